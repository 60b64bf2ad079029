// The statements of links against a real database.
#include "services/links/store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "runtime/task_group.hpp"
#include "services/links/test_links.hpp"

namespace tenon::links {
namespace {

using boost::asio::awaitable;
using testing::HasSubstr;
using testing::Not;

awaitable<void> lease_into(Store& store, runtime::Call call, std::vector<Lease> wishes,
                           std::vector<Lease>& granted) {
    for (const auto& lease : co_await store.lease(call, std::move(wishes))) {
        granted.push_back(lease);
    }
}

awaitable<void> load_key_into(storage::Database& database, runtime::Call call,
                              std::vector<base::BijectionKey>& keys) {
    keys.push_back(co_await load_bijection_key(call, database, database.core().random()));
}

class Stored : public testing::Test {
protected:
    Draft draft(const Row& row) {
        return {.bucket = house_.key_of(row.code).bucket, .row = row, .claim = std::nullopt};
    }
    std::vector<Written> insert(const std::vector<Draft>& drafts) {
        auto call = house_.host.call();
        return house_.host.run(store_.insert(call, drafts));
    }
    std::optional<Row> find(const std::string& code, base::Uuid project) {
        auto call = house_.host.call();
        return house_.host.run(store_.find(call, house_.key_of(code), project));
    }

    TestLinks house_;
    Store store_{*house_.database};
    Store elsewhere_{house_.elsewhere};  ///< another process
};

TEST_F(Stored, ARowComesBackAsItWasWritten) {
    Row row = house_.row("shop", "https://example.org/\xc3\xa9?a=\"b\"#{,}");
    row.status = 308;
    row.forward_query = true;
    row.title = "A \"title\", {with} \\ everything\nand NULL";
    row.expires_at = row.created_at + std::chrono::microseconds(123'456'789);
    Row bare = house_.row("bare");
    EXPECT_EQ(insert({draft(row), draft(bare)}), (std::vector{Written::made, Written::made}));
    const auto found = find("shop", house_.project);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->url, row.url);
    EXPECT_EQ(found->status, row.status);
    EXPECT_TRUE(found->forward_query);
    EXPECT_EQ(found->title, row.title);
    EXPECT_EQ(found->expires_at, row.expires_at);
    EXPECT_EQ(found->created_at, row.created_at);
    EXPECT_EQ(found->updated_at, row.created_at);
    EXPECT_EQ(find("bare", house_.project)->title, std::nullopt);
}

TEST_F(Stored, ARowIsItsProjectsAlone) {
    insert({draft(house_.row("shop"))});
    EXPECT_FALSE(find("shop", house_.stranger));
    auto call = house_.host.call();
    EXPECT_FALSE(house_.host.run(store_.remove(call, house_.key_of("shop"), house_.stranger)));
    EXPECT_TRUE(house_.host.run(store_.remove(call, house_.key_of("shop"), house_.project)));
    EXPECT_FALSE(house_.host.run(store_.remove(call, house_.key_of("shop"), house_.project)));
}

TEST_F(Stored, LookUpAnswersInTheOrderOfTheKeys) {
    std::vector<Draft> drafts;
    std::vector<Key> keys;
    for (int i = 0; i < 100; ++i) {
        const auto alias = fmt::format("link-{}", i * 37 % 100);
        keys.push_back(house_.key_of(alias));
        if (i % 3 != 0) drafts.push_back(draft(house_.row(alias, "https://example.org/" + alias)));
    }
    insert(drafts);
    auto call = house_.host.call();
    const auto found = house_.host.run(store_.look_up(call, keys));
    ASSERT_EQ(found.size(), keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) {
        ASSERT_EQ(found[i].has_value(), i % 3 != 0) << i;
        if (found[i]) EXPECT_EQ(found[i]->url, "https://example.org/" + keys[i].code);
    }
}

TEST_F(Stored, LeasesOfManyAtOnceDoNotOverlap) {
    std::vector<Lease> granted;
    runtime::TaskGroup tasks(house_.host.core.io());
    for (int i = 0; i < 100; ++i) {
        std::vector<Lease> wishes;
        for (std::int32_t bucket = 0; bucket < 4; ++bucket) {
            // Asked for in both orders, so that two leases would wait for each other crosswise.
            const auto asked = i % 2 == 0 ? bucket : 3 - bucket;
            wishes.push_back({.bucket = {asked}, .first_k = 0, .count = 1 + (i + bucket) % 7});
        }
        tasks.spawn("lease", lease_into(i % 3 == 0 ? elsewhere_ : store_, house_.host.call(),
                                        std::move(wishes), granted));
    }
    house_.host.run(tasks.join());
    ASSERT_EQ(granted.size(), 400U);
    std::ranges::sort(granted, {},
                      [](const Lease& lease) { return std::pair(lease.bucket, lease.first_k); });
    std::map<base::Bucket, std::int64_t> ends;
    for (const auto& lease : granted) {
        // No gap either: every k is somebody's.
        EXPECT_EQ(lease.first_k, ends[lease.bucket]);
        ends[lease.bucket] = lease.first_k + lease.count;
    }
    for (const auto& [bucket, end] : ends) {
        EXPECT_EQ(house_.value("SELECT next_k FROM links.code_counters WHERE bucket = " +
                               std::to_string(bucket.value)),
                  std::to_string(end));
    }
}

TEST_F(Stored, TheBijectionKeyIsMadeOnceByManyFirstStarts) {
    std::vector<base::BijectionKey> keys;
    runtime::TaskGroup tasks(house_.host.core.io());
    for (int i = 0; i < 20; ++i) {
        tasks.spawn("start", load_key_into(i % 2 == 0 ? *house_.database : house_.elsewhere,
                                           house_.host.call(), keys));
    }
    house_.host.run(tasks.join());
    ASSERT_EQ(keys.size(), 20U);
    EXPECT_THAT(keys, testing::Each(keys.front()));
    EXPECT_NE(keys.front(), base::BijectionKey{});
    EXPECT_EQ(house_.value("SELECT encode(key, 'hex') FROM links.bijection"),
              base::to_hex(keys.front()));
}

TEST(BijectionKey, LiesOnEveryNode) {
    TestLinks house(3);
    std::vector<base::BijectionKey> keys;
    house.host.run(load_key_into(*house.database, house.host.call(), keys));
    for (std::size_t node = 0; node < 3; ++node) {
        EXPECT_EQ(house.value("SELECT encode(key, 'hex') FROM links.bijection", node),
                  base::to_hex(keys.front()));
    }
}

/// The list statements as PostgreSQL plans them over many rows.
class ListPlan : public Stored {
protected:
    ListPlan() {
        house_.script(
            "INSERT INTO links.links SELECT i % 1024, '" + base::format_uuid(house_.domain().id) +
            "', substr(md5(i::text), 1, 12), md5((i % 4)::text)::uuid, 'https://example.org/', "
            "302, false, NULL, NULL, now() - i % 50 * interval '1 s', now() "
            "FROM generate_series(1, 10000) AS i");
        house_.script("VACUUM ANALYZE links.links");
    }
    /// The plan of a prepared statement's seventh run, when `auto` has made its choice.
    std::string plan(bool goes_on, const std::string& mode, const std::string& domain) {
        auto session = house_.nodes[0].connect();
        session.run("SET plan_cache_mode = " + mode);
        session.run("PREPARE list AS " + std::string(list_sql(goes_on)));
        const std::string project = "md5('1')::uuid";
        const std::string after = ", now() - interval '20 s', 'a', md5('a')::uuid";
        std::string plan;
        for (int run = 0; run < 7; ++run) {
            plan.clear();
            for (const auto& line : session.run(
                     "EXPLAIN (COSTS OFF) EXECUTE list(" + project + ", " + domain +
                     ", 51, decode(repeat('ff', 128), 'hex')" + (goes_on ? after : "") + ")")) {
                plan += *line.at(0) + "\n";
            }
        }
        return plan;
    }
};

TEST_F(ListPlan, WalksTheIndexAndSortsNothing) {
    const std::string own = "'" + base::format_uuid(house_.domain().id) + "'";
    for (const bool goes_on : {false, true}) {
        for (const char* mode : {"auto", "force_generic_plan", "force_custom_plan"}) {
            for (const auto& domain : {std::string("NULL"), own}) {
                const auto chosen = plan(goes_on, mode, domain);
                EXPECT_THAT(chosen, HasSubstr("links_by_project")) << mode << domain << goes_on;
                EXPECT_THAT(chosen, Not(HasSubstr("Sort"))) << mode << domain << goes_on;
                EXPECT_THAT(chosen, Not(HasSubstr("Seq Scan"))) << mode << domain << goes_on;
            }
        }
    }
}

}  // namespace
}  // namespace tenon::links
