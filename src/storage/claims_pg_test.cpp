// Claims under races and crashes, with an effect of the simplest kind: a row per winner.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "runtime/task_group.hpp"
#include "storage/claims.hpp"
#include "storage/claims_reaper.hpp"
#include "storage/errors.hpp"
#include "storage/test_store.hpp"

namespace tenon::storage {
namespace {

using postgres::Parameters;
using postgres::Query;
using postgres::Rows;

constexpr postgres::Statement claim_and_act{R"(
    WITH claimed AS (
        INSERT INTO tenon.claims (bucket, project, caller, key, fingerprint, state, outcome, answer)
        SELECT bucket, project, caller, key, fingerprint, 0, '', answer
        FROM unnest($1::integer[], $2::uuid[], $3::text[], $4::text[], $5::bytea[], $6::text[])
             AS wanted (bucket, project, caller, key, fingerprint, answer)
        ORDER BY bucket, project, caller, key
        ON CONFLICT DO NOTHING
        RETURNING bucket, project, caller, key)
    INSERT INTO effect SELECT bucket, key FROM claimed RETURNING key)"};

Query act(const std::vector<ClaimRow>& rows) {
    const ClaimColumns columns = columns_of(rows);
    return {.statement = claim_and_act,
            .parameters = Parameters::of(columns.buckets, columns.projects, columns.callers,
                                         columns.keys, columns.fingerprints, columns.answers)};
}

postgres::PoolOptions many_connections() {
    postgres::PoolOptions options;
    options.multiplexed = 20;
    return options;
}

class Claims : public testing::Test {
protected:
    Claims() { store_.script("CREATE TABLE effect (bucket integer, key text)"); }

    ClaimRow row(const std::string& key, std::int32_t bucket = 7) {
        return {.bucket = {bucket},
                .project = project_,
                .caller = "",
                .key = key,
                .fingerprint = body_,
                .answer = "{\"made\":\"" + key + "\"}"};
    }
    ClaimKey key_of(const ClaimRow& row) {
        return {.bucket = row.bucket, .project = row.project, .caller = row.caller, .key = row.key};
    }
    // True when this call was the one that acted.
    bool write(const ClaimRow& row) {
        runtime::Call call = store_.host.call();
        const std::vector buckets{row.bucket};
        std::vector<Query> queries;
        queries.push_back(act({row}));
        const auto rows =
            store_.host.run(store_.database->write(call, buckets, std::move(queries)));
        return rows[0].size() == 1;
    }
    std::optional<StoredClaim> find(const ClaimKey& key) {
        runtime::Call call = store_.host.call();
        return store_.host.run(find_claim(call, *store_.database, key));
    }
    std::string effects() { return store_.value("SELECT count(*) FROM effect"); }

    TestStore store_{migrations(), 1, many_connections()};
    base::Uuid project_ = base::make_uuid_v4(store_.host.core.random());
    base::Digest body_ = base::sha256("body");
};

boost::asio::awaitable<void> act_once(Database& database, ClaimRow row, std::size_t& winners,
                                      std::size_t& repeats) {
    runtime::Call call = database.core().make_call(std::chrono::seconds(30));
    const std::vector buckets{row.bucket};
    std::vector<Query> queries;
    queries.push_back(act({row}));
    const auto results = co_await database.write(call, buckets, std::move(queries));
    if (results[0].size() == 1) {
        ++winners;
        co_return;
    }
    const auto stored = co_await find_claim(
        call, database,
        {.bucket = row.bucket, .project = row.project, .caller = row.caller, .key = row.key});
    if (stored && decide_repeat(*stored, row.fingerprint)) {
        ++repeats;
    }
}

boost::asio::awaitable<void> act_together(Database& database, const ClaimRow& row,
                                          std::size_t& winners, std::size_t& repeats) {
    runtime::TaskGroup tasks(database.core().io());
    for (int i = 0; i < 200; ++i) {
        tasks.spawn("act", act_once(database, row, winners, repeats));
    }
    co_await tasks.join();
}

TEST_F(Claims, TwoHundredAtOnceHaveOneEffect) {
    std::size_t winners = 0;
    std::size_t repeats = 0;
    store_.host.run(act_together(*store_.database, row("same"), winners, repeats));
    EXPECT_EQ(winners, 1U);
    EXPECT_EQ(repeats, 199U);
    EXPECT_EQ(effects(), "1");
}

TEST_F(Claims, EqualKeysInOneBatchHaveOneEffect) {
    runtime::Call call = store_.host.call();
    const std::vector<base::Bucket> buckets{{7}, {8}};
    std::vector<Query> queries;
    queries.push_back(act({row("a"), row("b", 8), row("a")}));
    const auto rows = store_.host.run(store_.database->write(call, buckets, std::move(queries)));
    EXPECT_EQ(rows[0].size(), 2U);
    EXPECT_EQ(effects(), "2");
}

TEST_F(Claims, ARepeatFindsTheStoredAnswer) {
    ASSERT_TRUE(write(row("a")));
    EXPECT_FALSE(write(row("a")));
    const auto stored = find(key_of(row("a")));
    ASSERT_TRUE(stored);
    EXPECT_EQ(stored->answer, "{\"made\":\"a\"}");
    EXPECT_TRUE(decide_repeat(*stored, body_));
    EXPECT_TRUE(decide_repeat(*stored, base::sha256("other")).error().is(errors::claim_mismatch));
}

TEST_F(Claims, AnotherProjectOrCallerIsAnotherClaim) {
    ASSERT_TRUE(write(row("a")));
    ClaimRow other = row("a");
    other.project = base::make_uuid_v4(store_.host.core.random());
    EXPECT_FALSE(find(key_of(other)));
    EXPECT_TRUE(write(other));
    other.caller = "user";
    EXPECT_FALSE(find(key_of(other)));
    EXPECT_TRUE(write(other));
}

boost::asio::awaitable<void> act_and_die(Database& database, const ClaimRow& row,
                                         Session& executioner) {
    runtime::Call call = database.core().make_call(std::chrono::seconds(30));
    const std::vector buckets{row.bucket};
    auto transaction = co_await database.begin(call, buckets);
    const Rows self = co_await transaction.query(
        call, {.statement = {"SELECT pg_backend_pid()"}, .parameters = {}});
    co_await transaction.query(call, act({row}));
    executioner.run("SELECT pg_terminate_backend(" +
                    std::to_string(self.value<std::int32_t>(0, 0)) + ", 5000)");
    co_await transaction.commit(call);
}

TEST_F(Claims, AKilledTransactionLeavesNothingAndItsRepeatSucceeds) {
    Session executioner = store_.nodes[0].connect();
    const auto failure =
        store_.host.run(runtime::failure_of(act_and_die(*store_.database, row("a"), executioner)));
    EXPECT_TRUE(runtime::is_a<runtime::Unavailable>(failure));
    EXPECT_EQ(effects(), "0");
    EXPECT_FALSE(find(key_of(row("a"))));
    EXPECT_TRUE(write(row("a")));
    EXPECT_EQ(effects(), "1");
}

TEST_F(Claims, AWaiterActsWhenTheFirstIsKilled) {
    Session first = store_.nodes[0].connect();
    first.run("BEGIN; INSERT INTO tenon.claims VALUES (7, '" + base::format_uuid(project_) +
              "', '', 'a', sha256('body'), 0, '', '')");
    std::size_t winners = 0;
    std::size_t repeats = 0;
    runtime::TaskGroup tasks(store_.host.core.io());
    tasks.spawn("act", act_once(*store_.database, row("a"), winners, repeats));
    Session executioner = store_.nodes[0].connect();
    while (executioner.value("SELECT count(*) FROM pg_locks WHERE NOT granted") == "0") {
        store_.host.turn();
        executioner.idle(std::chrono::milliseconds(1));
    }
    executioner.run("SELECT pg_terminate_backend(" + std::to_string(first.process()) + ")");
    store_.host.run(tasks.join());
    EXPECT_EQ(winners, 1U);
    EXPECT_EQ(effects(), "1");
}

TEST_F(Claims, AreFoundInTheOrderAskedForAcrossNodes) {
    TestStore three(migrations(), 3);
    std::vector<ClaimKey> keys;
    for (std::int32_t i = 0; i < 30; ++i) {
        keys.push_back({.bucket = {i * 31},
                        .project = project_,
                        .caller = "u",
                        .key = "k" + std::to_string(i)});
        if (i % 4 == 0) {
            continue;
        }
        three.script("INSERT INTO tenon.claims VALUES (" + std::to_string(i * 31) + ", '" +
                         base::format_uuid(project_) + "', 'u', 'k" + std::to_string(i) +
                         "', sha256('body'), 0, '', '" + std::to_string(i) + "')",
                     static_cast<std::size_t>(i * 31 % 3));
    }
    runtime::Call call = three.host.call();
    const auto found = three.host.run(find_claims(call, *three.database, keys));
    ASSERT_EQ(found.size(), keys.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        ASSERT_EQ(found[i].has_value(), i % 4 != 0) << i;
        if (found[i]) {
            EXPECT_EQ(found[i]->answer, std::to_string(i));
        }
    }
}

TEST_F(Claims, AreFoundByTheirPrimaryKeyInOnePartition) {
    store_.script(
        "INSERT INTO tenon.claims SELECT g % 1024, gen_random_uuid(), '', g::text, "
        "sha256('body'), 0, '', '' FROM generate_series(1, 10000) g; ANALYZE tenon.claims");
    Session session = store_.nodes[0].connect();
    std::string plan;
    for (const TextRow& line : session.run(
             "EXPLAIN SELECT claim.answer FROM unnest('{1,900}'::integer[], '{a,b}'::text[]) AS "
             "wanted (bucket, key) CROSS JOIN LATERAL (SELECT answer FROM tenon.claims WHERE "
             "bucket = wanted.bucket AND project = gen_random_uuid() AND caller = '' AND key = "
             "wanted.key OFFSET 0) AS claim")) {
        plan += line[0].value_or("") + "\n";
    }
    EXPECT_EQ(plan.find("Seq Scan"), std::string::npos) << plan;
    EXPECT_NE(plan.find("claims_s0_00_pkey"), std::string::npos) << plan;
}

class Reaper : public Claims {
protected:
    Reaper() {
        // 100 old and settled, 50 old and pending, 30 young.
        store_.script(
            "INSERT INTO tenon.claims SELECT g % 1024, '" + base::format_uuid(project_) +
            "', '', g::text, sha256('body'), CASE WHEN g <= 150 AND g > 100 THEN 1 ELSE 0 END, '', "
            "'', clock_timestamp() - CASE WHEN g <= 150 THEN interval '25 h' ELSE interval '23 h' "
            "END FROM generate_series(1, 180) g");
    }
    std::size_t reap() {
        ClaimsReaper reaper(*store_.database, {.batch_max = 7});
        runtime::Call call = store_.host.call();
        return store_.host.run(reaper.reap(call)).claims;
    }
    std::string left() { return store_.value("SELECT count(*) FROM tenon.claims"); }
};

TEST_F(Reaper, DeletesWhatIsOldAndSettled) {
    EXPECT_EQ(reap(), 100U);
    EXPECT_EQ(left(), "80");
    EXPECT_EQ(reap(), 0U);
}

TEST_F(Reaper, PassesByWhileAnotherProcessDoesIt) {
    Session other = store_.nodes[0].connect();
    other.run("SELECT pg_advisory_lock(1413828170, 2)");
    EXPECT_EQ(reap(), 0U);
    EXPECT_EQ(left(), "180");
}

TEST_F(Reaper, LeavesAPartWhoseBucketMoves) {
    store_.script("UPDATE tenon.fences SET state = 'read_only' WHERE bucket = 3");
    EXPECT_EQ(reap(), 100U - 63U);  // the part of buckets 0 .. 63, where keys 1 .. 63 lie
}

}  // namespace
}  // namespace tenon::storage
