// Statements of many callers on shared connections.
#include <gtest/gtest.h>

#include <boost/asio/awaitable.hpp>

#include "postgres/test_pool.hpp"
#include "runtime/failure.hpp"

namespace tenon::postgres {
namespace {

using boost::asio::awaitable;
using runtime::Call;
using std::chrono::milliseconds;

PoolOptions one_connection() {
    PoolOptions options = test_options();
    options.multiplexed = 1;
    return options;
}

TEST(Pool, GivesEveryCallerItsOwnError) {
    TestPool pool(one_connection());
    std::size_t right = 0;
    std::size_t refused = 0;
    const auto divide = [&](std::size_t i) -> awaitable<void> {
        Call call = pool.host.call();
        const auto divisor = static_cast<std::int64_t>(i % 3);
        try {
            const Rows rows =
                co_await pool.pool.query(call, {{"select 6 / $1"}, Parameters::of(divisor)});
            right += rows.value<std::int64_t>(0, 0) == 6 / divisor ? 1 : 0;
        } catch (const QueryFailed& failed) {
            refused += divisor == 0 && failed.is("22012") ? 1 : 0;
        }
    };
    pool.host.run(all_of(pool.host.core, 300, divide));
    EXPECT_EQ(right, 200U);
    EXPECT_EQ(refused, 100U);
}

TEST(Pool, CarriesTenThousandAtOnce) {
    PoolOptions options = test_options();
    options.waiting_max = 10'000;
    TestPool pool(options);
    std::size_t right = 0;
    const auto echo = [&](std::size_t i) -> awaitable<void> {
        Call call = pool.host.call();
        const auto number = static_cast<std::int64_t>(i);
        const Rows rows = co_await pool.pool.query(call, {{"select $1"}, Parameters::of(number)});
        right += rows.value<std::int64_t>(0, 0) == number ? 1 : 0;
    };
    pool.host.run(all_of(pool.host.core, 10'000, echo));
    EXPECT_EQ(right, 10'000U);
}

TEST(Pool, RefusesOneMoreThanItsBound) {
    PoolOptions options = one_connection();
    options.waiting_max = 10;
    TestPool pool(options);
    (void)pool.query("select 1");
    std::size_t answered = 0;
    std::size_t refused = 0;
    const auto ask = [&](std::size_t) -> awaitable<void> {
        Call call = pool.host.call();
        try {
            (void)co_await pool.pool.query(call, {{"select 1"}, {}});
            ++answered;
        } catch (const runtime::Unavailable& full) {
            EXPECT_EQ(full.advice(), runtime::Advice::give_up);
            ++refused;
        }
    };
    pool.host.run(all_of(pool.host.core, 25, ask));
    EXPECT_EQ(answered, 10U);
    EXPECT_EQ(refused, 15U);
}

TEST(Pool, WritesAllStatementsTogetherOrNone) {
    TestPool pool;
    pool.script("drop table if exists pg_room_all; create table pg_room_all(id int8 primary key)");
    const auto insert = [](std::int64_t id) {
        return Query{{"insert into pg_room_all values ($1) returning id"}, Parameters::of(id)};
    };
    Call call = pool.host.call();
    std::vector<Query> good;
    good.push_back(insert(1));
    good.push_back(insert(2));
    const std::vector<Rows> results = pool.host.run(pool.pool.atomically(call, std::move(good)));
    ASSERT_EQ(results.size(), 2U);
    EXPECT_EQ(results[1].value<std::int64_t>(0, 0), 2);

    std::vector<Query> bad;
    bad.push_back(insert(3));
    bad.push_back(insert(2));
    bad.push_back(insert(4));
    try {
        (void)pool.host.run(pool.pool.atomically(call, std::move(bad)));
        FAIL() << "a double key was taken";
    } catch (const QueryFailed& failed) {
        EXPECT_TRUE(failed.is("23505"));
        EXPECT_EQ(failed.report().constraint, "pg_room_all_pkey");
        EXPECT_EQ(failed.advice(), runtime::Advice::split);
    }
    const Rows left = pool.query("select count(*) from pg_room_all");
    EXPECT_EQ(left.value<std::int64_t>(0, 0), 2);
}

TEST(Pool, LetsCallersInspectStatesOfTheirOwn) {
    TestPool pool;
    pool.script(
        "create or replace function pg_room_refuse() returns void language plpgsql as "
        "$$ begin raise exception 'moved' using errcode = 'TN001', detail = '7'; end $$");
    try {
        (void)pool.query("select pg_room_refuse()");
        FAIL();
    } catch (const QueryFailed& failed) {
        EXPECT_TRUE(failed.is("TN001"));
        EXPECT_EQ(failed.report().detail, "7");
        EXPECT_EQ(failed.report().statement, "select pg_room_refuse()");
    }
}

TEST(Pool, GoesOnAfterACallerLeftAtItsDeadline) {
    TestPool pool(one_connection());
    const auto backend = [&] {
        return pool.query("select pg_backend_pid()").value<std::int32_t>(0, 0);
    };
    const std::int32_t before = backend();
    Call call = pool.host.call(milliseconds(30));
    EXPECT_THROW(pool.host.run(pool.pool.query(call, {{"select pg_sleep(0.2)"}, {}})),
                 runtime::DeadlineExceeded);
    EXPECT_EQ(backend(), before);
}

TEST(Pool, DoesNotSendWhatIsTooLate) {
    TestPool pool;
    Call call = pool.host.call(milliseconds(-1));
    EXPECT_THROW(pool.host.run(pool.pool.query(call, {{"select 1"}, {}})),
                 runtime::DeadlineExceeded);
}

TEST(Pool, LetsTheServerEndWhatTakesTooLong) {
    PoolOptions options = test_options();
    options.statement_timeout = milliseconds(50);
    TestPool pool(options);
    try {
        (void)pool.query("select pg_sleep(10)");
        FAIL();
    } catch (const QueryFailed& failed) {
        EXPECT_TRUE(failed.is("57014"));
    }
    EXPECT_EQ(pool.query("select 1").size(), 1U);
}

TEST(Pool, ReadsWhileItWritesMegabytes) {
    TestPool pool(one_connection());
    const std::string megabyte(1 << 20, 'x');
    std::size_t right = 0;
    // Both directions are many times what the sockets hold: who only writes never ends.
    const auto exchange = [&](std::size_t i) -> awaitable<void> {
        Call call = pool.host.call();
        const Rows rows = co_await pool.pool.query(
            call, {{"select $1::text || $1::text, $2"},
                   Parameters::of(megabyte, static_cast<std::int64_t>(i))});
        right += rows.value<std::string_view>(0, 0).size() == 2 * megabyte.size() &&
                         rows.value<std::int64_t>(0, 1) == static_cast<std::int64_t>(i)
                     ? 1
                     : 0;
    };
    pool.host.run(all_of(pool.host.core, 40, exchange));
    EXPECT_EQ(right, 40U);
}

TEST(Pool, PreparesAnewWhenATableChanged) {
    TestPool pool(one_connection());
    pool.script("drop table if exists pg_room_alter; create table pg_room_alter(a int8)");
    static constexpr const char* all = "select * from pg_room_alter";
    (void)pool.query("insert into pg_room_alter values (1)");
    (void)pool.query(all);
    pool.script("alter table pg_room_alter add column b int8 default 5");
    const Rows rows = pool.query(all);
    EXPECT_EQ(rows.value<std::int64_t>(0, 1), 5);

    // Several on their way at once, and within one transaction with another statement.
    pool.script("alter table pg_room_alter add column c int8 default 6");
    std::size_t right = 0;
    const auto read = [&](std::size_t) -> awaitable<void> {
        Call call = pool.host.call();
        std::vector<Query> queries(2, Query{{all}, {}});
        queries[0] = {{"select 1"}, {}};
        const auto results = co_await pool.pool.atomically(call, std::move(queries));
        right += results[1].value<std::int64_t>(0, 2) == 6 ? 1 : 0;
    };
    pool.host.run(all_of(pool.host.core, 10, read));
    EXPECT_EQ(right, 10U);
}

TEST(Pool, PreparesAnewWhatTheServerForgot) {
    TestPool pool(one_connection());
    EXPECT_EQ(pool.query("select 17").size(), 1U);
    (void)pool.query("deallocate all");
    EXPECT_EQ(pool.query("select 17").size(), 1U);
}

TEST(Pool, PreparesAfterAFailedAttempt) {
    TestPool pool(one_connection());
    pool.script("drop table if exists pg_room_late");
    static constexpr const char* count = "select count(*) from pg_room_late";
    EXPECT_THROW((void)pool.query(count), QueryFailed);
    pool.script("create table pg_room_late(a int8)");
    EXPECT_EQ(pool.query(count).value<std::int64_t>(0, 0), 0);

    // Prepared behind a statement that fails, so never prepared at all.
    Call call = pool.host.call();
    std::vector<Query> queries(2, Query{{"select 1/0"}, {}});
    queries[1] = {{"select 'behind'::text"}, {}};
    EXPECT_THROW((void)pool.host.run(pool.pool.atomically(call, std::move(queries))), QueryFailed);
    EXPECT_EQ(pool.query("select 'behind'::text").value<std::string>(0, 0), "behind");
}

TEST(Pool, RefusesMoreValuesThanTheProtocolCounts) {
    TestPool pool(one_connection());
    Parameters parameters;
    for (int i = 0; i < 65'536; ++i) parameters.add(true);
    EXPECT_THROW((void)pool.query("select 1", std::move(parameters)), std::logic_error);
    EXPECT_EQ(pool.query("select 1").size(), 1U);
}

TEST(Pool, SetsTheSession) {
    TestPool pool;
    const Rows rows = pool.query(
        "select current_setting('statement_timeout'), current_setting('lock_timeout'), "
        "current_setting('idle_in_transaction_session_timeout'), current_setting('TimeZone'), "
        "current_setting('client_encoding'), current_setting('application_name')");
    const char* const expected[] = {"5s", "2s", "2s", "UTC", "UTF8", "tenon"};
    for (std::size_t i = 0; i < std::size(expected); ++i) {
        EXPECT_EQ(rows.value<std::string>(0, i), expected[i]);
    }
}

TEST(Pool, ClosesAfterWhatIsInFlight) {
    TestPool pool;
    std::size_t answered = 0;
    const auto work = [&](std::size_t i) -> awaitable<void> {
        Call call = pool.host.call();
        if (i < 10) {
            (void)co_await pool.pool.query(call, {{"select pg_sleep(0.02)"}, {}});
            ++answered;
        } else {
            co_await pool.pool.close(call);
            EXPECT_EQ(answered, 10U);
        }
    };
    (void)pool.query("select 1");
    pool.host.run(all_of(pool.host.core, 11, work));
    EXPECT_THROW((void)pool.query("select 1"), runtime::Unavailable);
    EXPECT_FALSE(pool.pool.is_up());
}

}  // namespace
}  // namespace tenon::postgres
