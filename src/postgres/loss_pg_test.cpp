// Connections that are lost, and servers that are not there.
#include <gtest/gtest.h>

#include <boost/asio/awaitable.hpp>

#include "postgres/test_pool.hpp"
#include "runtime/failure.hpp"
#include "runtime/wait.hpp"

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

/// Asks until there is an answer; the call's deadline ends it.
awaitable<Rows> query_when_up(Pool& pool, Call& call, Query query) {
    for (;;) {
        try {
            co_return co_await pool.query(call, query);
        } catch (const runtime::Unavailable& away) {
            if (call.expired()) throw;
        }
        co_await runtime::pause_for(milliseconds(2));
    }
}

awaitable<std::int32_t> backend_of(Pool& pool, Call& call) {
    const Rows rows = co_await query_when_up(pool, call, {{"select pg_backend_pid()"}, {}});
    co_return rows.value<std::int32_t>(0, 0);
}

/// Ends a backend once it runs a statement.
awaitable<void> kill_while_active(Pool& pool, Call& call, std::int32_t backend) {
    for (;;) {
        const Rows rows = co_await pool.query(
            call, {{"select pg_terminate_backend(pid) from pg_stat_activity "
                    "where pid = $1 and state = 'active' and query like '%pg_sleep%'"},
                   Parameters::of(backend)});
        if (!rows.empty()) co_return;
        co_await runtime::pause_for(milliseconds(2));
    }
}

/// What a statement's caller hears when its backend is killed while it runs.
template <class Expected>
void expect_when_killed(bool writes, runtime::Advice advice) {
    TestPool pool(one_connection());
    Pool killers(pool.host.core, one_connection());
    Call call = pool.host.call();
    const std::int32_t backend = pool.host.run(backend_of(pool.pool, call));
    const auto work = [&](std::size_t i) -> awaitable<void> {
        Call own = pool.host.call();
        if (i == 1) {
            co_await kill_while_active(killers, own, backend);
            co_return;
        }
        try {
            (void)co_await pool.pool.query(own, {{"select pg_sleep(20)"}, {}, writes});
            ADD_FAILURE() << "the statement ended well";
        } catch (const Expected& lost) {
            EXPECT_EQ(lost.advice(), advice);
            EXPECT_NE(std::string(lost.what()).find("terminating connection"), std::string::npos)
                << lost.what();
        }
    };
    pool.host.run(all_of(pool.host.core, 2, work));
    EXPECT_NE(pool.host.run(backend_of(pool.pool, call)), backend);
    pool.host.run(killers.close(call));
}

TEST(Loss, OfAReadMayBeRepeated) {
    expect_when_killed<runtime::Unavailable>(false, runtime::Advice::repeat);
}

TEST(Loss, OfAWriteLeavesTheOutcomeUnknown) {
    expect_when_killed<runtime::OutcomeUnknown>(true, runtime::Advice::give_up);
}

TEST(Loss, OfAnIdleConnectionIsNoticedAndMended) {
    TestPool pool(one_connection());
    Pool killers(pool.host.core, one_connection());
    Call call = pool.host.call();
    const std::int32_t backend = pool.host.run(backend_of(pool.pool, call));
    (void)pool.host.run(
        killers.query(call, {{"select pg_terminate_backend($1, 5000)"}, Parameters::of(backend)}));
    EXPECT_NE(pool.host.run(backend_of(pool.pool, call)), backend);
    EXPECT_TRUE(pool.pool.is_up());
    EXPECT_EQ(pool.pool.why_down(), "");
    pool.host.run(killers.close(call));
}

TEST(Loss, EndsATransactionThatMayThenBeRepeated) {
    TestPool pool;
    Call call = pool.host.call();
    Transaction transaction = pool.host.run(pool.pool.begin(call));
    const Rows backend = pool.host.run(transaction.query(call, {{"select pg_backend_pid()"}, {}}));
    (void)pool.query("select pg_terminate_backend($1, 5000)",
                     Parameters::of(backend.value<std::int32_t>(0, 0)));
    try {
        (void)pool.host.run(transaction.query(call, {{"select 1"}, {}}));
        FAIL();
    } catch (const runtime::Unavailable& lost) {
        EXPECT_EQ(lost.advice(), runtime::Advice::repeat);
    }
}

TEST(Loss, OfAConnectionToAReplacedPrimaryComesBeforeItsNextUse) {
    PoolOptions options = one_connection();
    options.timelines = std::make_shared<Timelines>();
    TestPool pool(options);
    Call call = pool.host.call();
    EXPECT_EQ(pool.query("select 1").size(), 1U);
    // A transaction that is open when the newer timeline is met ends as it can; its connection is
    // not lent again.
    Transaction transaction = pool.host.run(pool.pool.begin(call));
    EXPECT_TRUE(options.timelines->of(options.conninfo)->admit(7));  // met by another connection
    EXPECT_FALSE(pool.pool.is_up());
    EXPECT_THROW((void)pool.query("select 1"), runtime::Unavailable);
    pool.host.run(transaction.rollback(call));
    EXPECT_THROW((void)pool.host.run(pool.pool.begin(call)), runtime::Unavailable);
}

/// What a caller hears where no server answers.
std::string hear_away(TestPool& pool) {
    try {
        (void)pool.query("select 1");
    } catch (const runtime::Unavailable& away) {
        EXPECT_EQ(away.advice(), runtime::Advice::repeat);
        return away.what();
    }
    ADD_FAILURE() << "there was an answer";
    return {};
}

TEST(Absence, OfTheServerIsToldAtOnceWithItsReason) {
    PoolOptions options;
    options.conninfo = "host=/tmp/tenon-no-such-folder dbname=d user=u";
    TestPool pool(options);
    for (int i = 0; i < 3; ++i) {
        const auto what = hear_away(pool);
        EXPECT_NE(what.find("down since 2"), std::string::npos) << what;
        EXPECT_NE(what.find("No such file or directory"), std::string::npos) << what;
    }
    EXPECT_FALSE(pool.pool.is_up());
    EXPECT_NE(pool.pool.why_down(), "");
    Call call = pool.host.call();
    EXPECT_THROW((void)pool.host.run(pool.pool.begin(call)), runtime::Unavailable);
    EXPECT_THROW(pool.script("select 1"), runtime::Unavailable);
}

TEST(Absence, BehindAHostNameIsFoundWithoutBlocking) {
    PoolOptions options;
    options.conninfo = "host=localhost port=1 dbname=d user=u sslmode=disable";
    TestPool pool(options);
    EXPECT_NE(hear_away(pool).find("refused"), std::string::npos);
}

TEST(Absence, BehindListsThatDoNotMatchIsToldByLibpq) {
    PoolOptions options;
    options.conninfo = "host=localhost,localhost,localhost port=1,2 dbname=d user=u";
    TestPool pool(options);
    EXPECT_NE(hear_away(pool).find("port"), std::string::npos);
}

TEST(Absence, OfEveryServerButAReplacedPrimaryNamesIt) {
    PoolOptions options = test_options();
    options.timelines = std::make_shared<Timelines>();
    const auto timeline = options.timelines->of(options.conninfo);
    {
        TestPool pool(options);
        EXPECT_EQ(pool.query("select 1").size(), 1U);
        EXPECT_EQ(timeline->newest(), 1);
    }
    EXPECT_TRUE(timeline->admit(7));  // met elsewhere, after a promotion
    TestPool pool(options);
    const auto what = hear_away(pool);
    EXPECT_NE(what.find("on timeline 1, and timeline 7 was met"), std::string::npos) << what;
}

TEST(Absence, OfTheDatabaseNamesIt) {
    PoolOptions options = test_options();
    options.conninfo += " dbname=tenon_no_such_database";
    TestPool pool(options);
    EXPECT_NE(hear_away(pool).find("does not exist"), std::string::npos);
}

}  // namespace
}  // namespace tenon::postgres
