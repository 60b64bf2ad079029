// Bytes on their way to and from PostgreSQL that are cut, sliced, delayed and damaged.
#include <gtest/gtest.h>

#include "postgres/test_faults.hpp"

namespace tenon::postgres {
namespace {

using runtime::FaultPlan;
using runtime::Faults;
using std::chrono::milliseconds;

/// Bytes of a whole conversation, from the first of the startup to the last answer.
struct Conversation {
    std::size_t said = 0;
    std::size_t heard = 0;
};

Conversation measure(TestPool& direct, Workload& work) {
    FaultyPool pool(direct.host, shared_options());
    work.run(pool.pool);
    return {.said = pool.proxy.said_bytes(), .heard = pool.proxy.heard_bytes()};
}

/// One workload on a connection with these faults, and one on its successor without.
void run_under(TestPool& direct, Workload& work, const FaultPlan& plan) {
    FaultyPool pool(direct.host, shared_options(), plan);
    work.run(pool.pool);
    (void)pool.backend();
    const std::size_t answered = work.answered;
    work.run(pool.pool);
    EXPECT_EQ(work.answered, answered + Workload::statements_total);
}

TEST(Faults, ACutAtAnyByteOfWhatTheServerSays) {
    TestPool direct;
    Workload work(direct);
    const Conversation whole = measure(direct, work);
    for (std::size_t at = 0; at < whole.heard; at += 1 + whole.heard / 70) {
        run_under(direct, work, {.to_server = {}, .to_client = {.cut_at = at}});
    }
    work.judge();
    EXPECT_GT(work.unknown, 0U);
    EXPECT_GT(work.lost, 0U);
    EXPECT_EQ(work.late + work.failed, 0U);
}

TEST(Faults, ACutAtAnyByteOfWhatIsSaidToTheServer) {
    TestPool direct;
    Workload work(direct);
    const Conversation whole = measure(direct, work);
    for (std::size_t at = 0; at < whole.said; at += 1 + whole.said / 70) {
        run_under(direct, work, {.to_server = {.cut_at = at}, .to_client = {}});
    }
    work.judge();
    EXPECT_GT(work.unknown, 0U);
    EXPECT_EQ(work.late + work.failed, 0U);
}

TEST(Faults, AnswersInSlicesOfOneByte) {
    TestPool direct;
    Workload work(direct);
    const Faults slices{.slice_max = 1};
    FaultyPool pool(direct.host, shared_options(), {.to_server = slices, .to_client = slices});
    work.run(pool.pool);
    work.run(pool.pool);
    EXPECT_EQ(work.answered, 2 * Workload::statements_total);
    EXPECT_EQ(pool.proxy.connections(), 1U);
    work.judge();
}

TEST(Faults, SlicesOfAnySizeAndDelaysChangeNothing) {
    TestPool direct;
    Workload work(direct);
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        const FaultPlan plan{.to_server = {.slice_max = 5 * seed},
                             .to_client = {.delay = milliseconds(seed % 2), .slice_max = 90}};
        FaultyPool pool(direct.host, shared_options(), plan, seed);
        work.run(pool.pool);
        EXPECT_EQ(work.answered, seed * Workload::statements_total);
    }
    work.judge();
}

/// What is heard through damaged bytes may be anything that they spell; but it ends, nothing
/// crashes, and the pool goes on with a connection that works.
void run_damaged(TestPool& direct, const FaultPlan& plan) {
    PoolOptions options = shared_options();
    options.connect_timeout = milliseconds(300);
    options.statement_timeout = milliseconds(150);
    options.answer_grace = milliseconds(50);
    FaultyPool pool(direct.host, options, plan);
    const auto ask = [&](std::size_t i) -> boost::asio::awaitable<void> {
        runtime::Call call = direct.host.call(milliseconds(400));
        const auto number = static_cast<std::int64_t>(i);
        const auto failure = co_await runtime::failure_of(
            pool.pool.query(call, {{"select $1::int8, now()"}, Parameters::of(number), false}));
        EXPECT_FALSE(runtime::is_a<runtime::OutcomeUnknown>(failure));
        EXPECT_TRUE(!failure || runtime::is_a<runtime::Failure>(failure));
    };
    direct.host.run(all_of(direct.host.core, 4, ask));
    // The damaged connection may live on, if what was damaged was nobody's: end it.
    pool.proxy.cut();
    for (std::int64_t number = 0; number < 3; ++number) {
        const Rows rows =
            pool.query_when_up({{"select 1 + $1::int8"}, Parameters::of(number), false});
        EXPECT_EQ(rows.value<std::int64_t>(0, 0), 1 + number);
    }
}

TEST(Faults, DamagedBytesNeverCrashAndAreOvercome) {
    TestPool direct;
    base::SeededRandom random(20'26);
    for (int round = 0; round < 60; ++round) {
        const Faults damage{.corrupt_at = random.below(900),
                            .flip = static_cast<std::uint8_t>(1U << random.below(8))};
        run_damaged(direct, round % 3 == 0 ? FaultPlan{.to_server = damage, .to_client = {}}
                                           : FaultPlan{.to_server = {}, .to_client = damage});
    }
}

TEST(Faults, ADamagedTypeOfAMessageEndsTheConnection) {
    TestPool direct;
    FaultyPool pool(direct.host, shared_options());
    const std::int32_t before = pool.backend();
    pool.proxy.afflict({.to_server = {}, .to_client = {.corrupt_at = 0, .flip = 0x80}});
    runtime::Call call = direct.host.call();
    const auto failure = direct.host.run(
        runtime::failure_of(pool.pool.query(call, {{"select pg_backend_pid()"}, {}, false})));
    EXPECT_TRUE(runtime::is_a<runtime::Unavailable>(failure));
    EXPECT_NE(pool.backend(), before);
    EXPECT_EQ(pool.proxy.connections(), 2U);
}

TEST(Faults, AGiantRowArrivesBesideSmallOnes) {
    TestPool direct;
    FaultyPool pool(direct.host, shared_options());
    constexpr std::size_t giant = 48U << 20;
    std::size_t right = 0;
    const auto ask = [&](std::size_t i) -> boost::asio::awaitable<void> {
        runtime::Call call = direct.host.call();
        const auto bytes = static_cast<std::int32_t>(i == 1 ? giant : i);
        const Rows rows = co_await pool.pool.query(
            call, {{"select repeat('x', $1::int4)"}, Parameters::of(bytes), false});
        right += rows.value<std::string_view>(0, 0).size() == static_cast<std::size_t>(bytes);
    };
    direct.host.run(all_of(direct.host.core, 3, ask));
    EXPECT_EQ(right, 3U);
}

/// A role that must prove its password, which the server of the tests asks of nobody else.
std::string scram_conninfo(TestPool& direct) {
    PoolOptions options;
    options.conninfo = std::getenv("TENON_TEST_POSTGRES_ADMIN");
    TestPool admin(options);
    admin.script(
        "do $$ begin if not exists (select from pg_roles where rolname = 'tenon_scram') then "
        "create role tenon_scram login password 'a secret'; end if; "
        "execute format('copy (select unnest(array[''local all tenon_scram scram-sha-256'', "
        "''local all all trust'', ''local replication all trust''])) to %L', "
        "current_setting('hba_file')); perform pg_reload_conf(); end $$");
    // Until every new backend asks.
    const std::string wrong = test_options().conninfo + " user=tenon_scram password=wrong";
    for (;;) {
        PoolOptions refused;
        refused.conninfo = wrong;
        Pool probe(direct.host.core, refused);
        runtime::Call call = direct.host.call();
        const auto failure =
            direct.host.run(runtime::failure_of(probe.query(call, {{"select 1"}, {}, false})));
        direct.host.run(probe.close(call));
        if (failure) return test_options().conninfo + " user=tenon_scram password='a secret'";
    }
}

TEST(Faults, AnAuthenticationThatIsCutHalfWay) {
    TestPool direct;
    PoolOptions options = shared_options();
    options.conninfo = scram_conninfo(direct);
    const auto ask_once = [&](FaultyPool& pool) {
        runtime::Call call = direct.host.call();
        return direct.host.run(
            runtime::failure_of(pool.pool.query(call, {{"select 1"}, {}, false})));
    };
    for (std::size_t at = 0; at < 240; at += 9) {
        FaultyPool pool(direct.host, options, {.to_server = {}, .to_client = {.cut_at = at}});
        EXPECT_TRUE(runtime::is_a<runtime::Unavailable>(ask_once(pool))) << at;
        EXPECT_EQ(pool.query_when_up({{"select 1"}, {}, false}).size(), 1U) << at;
    }
    const Faults slices{.slice_max = 1};
    FaultyPool pool(direct.host, options, {.to_server = slices, .to_client = slices});
    EXPECT_FALSE(ask_once(pool));
}

}  // namespace
}  // namespace tenon::postgres
