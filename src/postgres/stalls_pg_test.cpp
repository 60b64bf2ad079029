// Servers and ways that stand still: bounds, deadlines, locks held by others, frozen processes.
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <stdexcept>
#include <string>

#include "postgres/test_faults.hpp"

namespace tenon::postgres {
namespace {

using boost::asio::awaitable;
using runtime::Call;
using runtime::is_a;
using std::chrono::milliseconds;

constexpr std::string_view cancel_request{"\x04\xd2\x16\x2e", 4};

Query numbered(std::int64_t number) {
    return {{"select $1::int8"}, Parameters::of(number), false};
}

/// Halts a process of the server of the tests and lets it go on, at the latest at its own end.
class Halt {
public:
    explicit Halt(std::int32_t process) : process_(process) {
        EXPECT_EQ(::kill(process_, SIGSTOP), 0);
    }
    ~Halt() { end(); }
    Halt(const Halt&) = delete;
    Halt& operator=(const Halt&) = delete;
    void end() { (void)::kill(process_, SIGCONT); }

private:
    std::int32_t process_;
};

std::int32_t parent_of(std::int32_t process) {
    std::ifstream stat("/proc/" + std::to_string(process) + "/status");
    for (std::string word; stat >> word;) {
        if (word == "PPid:" && stat >> word) return std::stoi(word);
    }
    throw std::runtime_error("a backend has no parent");
}

/// What one caller after another hears.
struct Heard {
    std::size_t right = 0;
    std::size_t late = 0;
    std::size_t refused = 0;  ///< at the bound
    std::size_t lost = 0;
};

awaitable<void> hear(Pool& pool, Call call, std::int64_t number, Heard& heard) {
    try {
        const Rows rows = co_await pool.query(call, numbered(number));
        heard.right += rows.value<std::int64_t>(0, 0) == number ? 1 : 0;
    } catch (const runtime::DeadlineExceeded&) {
        ++heard.late;
    } catch (const runtime::Unavailable& away) {
        ++(away.advice() == runtime::Advice::repeat ? heard.lost : heard.refused);
    }
}

void ask_many(FaultyPool& pool, std::size_t count, milliseconds limit, Heard& heard) {
    const auto ask = [&](std::size_t i) {
        return hear(pool.pool, pool.host.call(limit), static_cast<std::int64_t>(i), heard);
    };
    pool.host.run(all_of(pool.host.core, count, ask));
}

TEST(Stalls, RefuseAtTheBoundAtOnceAndKeepNobody) {
    TestPool direct;
    PoolOptions options = shared_options();
    options.waiting_max = 10;
    FaultyPool pool(direct.host, options);
    const std::int32_t backend = pool.backend();
    pool.proxy.hold();
    Heard heard;
    ask_many(pool, 25, milliseconds(50), heard);
    EXPECT_EQ(heard.late, 10U);
    EXPECT_EQ(heard.refused, 15U);
    // Those who left still count: their answers are owed.
    ask_many(pool, 5, milliseconds(50), heard);
    EXPECT_EQ(heard.refused, 20U);
    pool.proxy.release();
    EXPECT_EQ(pool.backend(), backend);
    ask_many(pool, 10, std::chrono::seconds(30), heard);
    EXPECT_EQ(heard.right, 10U);
    EXPECT_EQ(heard.lost, 0U);
}

TEST(Stalls, RefuseATransactionTooManyAtOnce) {
    TestPool direct;
    PoolOptions options = shared_options();
    options.exclusive_max = 1;
    options.waiting_max = 2;
    FaultyPool pool(direct.host, options);
    Call call = direct.host.call();
    Transaction first = direct.host.run(pool.pool.begin(call));
    Heard heard;
    const auto begin = [&](std::size_t) -> awaitable<void> {
        Call own = direct.host.call(milliseconds(50));
        try {
            (void)co_await pool.pool.begin(own);
        } catch (const runtime::DeadlineExceeded&) {
            ++heard.late;
        } catch (const runtime::Unavailable&) {
            ++heard.refused;
        }
    };
    direct.host.run(all_of(direct.host.core, 7, begin));
    EXPECT_EQ(heard.late, 2U);
    EXPECT_EQ(heard.refused, 5U);
    direct.host.run(first.rollback(call));
    Transaction next = direct.host.run(pool.pool.begin(call));
    EXPECT_EQ(direct.host.run(next.query(call, numbered(7))).value<std::int64_t>(0, 0), 7);
    direct.host.run(next.rollback(call));
}

TEST(Stalls, AnAnswerThatIsLongOverdueEndsTheConnection) {
    TestPool direct;
    PoolOptions options = shared_options();
    options.statement_timeout = milliseconds(50);
    options.answer_grace = milliseconds(50);
    FaultyPool pool(direct.host, options);
    const std::int32_t before = pool.backend();
    pool.proxy.hold();
    Call call = direct.host.call();
    try {
        (void)direct.host.run(pool.pool.query(call, {{"select 1"}, {}}));
        ADD_FAILURE() << "an answer came";
    } catch (const runtime::OutcomeUnknown& lost) {
        EXPECT_NE(std::string(lost.what()).find("no answer for 100 ms"), std::string::npos)
            << lost.what();
    }
    pool.proxy.release();
    EXPECT_NE(pool.backend(), before);
}

TEST(Stalls, AStatementOutlivesItsCallerAndTheNextGetsItsOwnAnswer) {
    TestPool direct;
    direct.script("drop table if exists pg_stall; create table pg_stall as select 1 as value");
    FaultyPool pool(direct.host, shared_options());
    const std::int32_t backend = pool.backend();
    Call call = direct.host.call();
    Transaction holder = direct.host.run(direct.pool.begin(call));
    (void)direct.host.run(holder.query(call, {{"update pg_stall set value = 2"}, {}}));
    Call hasty = direct.host.call(milliseconds(50));
    const auto failure = direct.host.run(runtime::failure_of(
        pool.pool.query(hasty, {{"update pg_stall set value = value + 5 returning value"}, {}})));
    EXPECT_TRUE(is_a<runtime::DeadlineExceeded>(failure));
    Heard heard;
    ask_many(pool, 3, milliseconds(50), heard);  // behind it
    EXPECT_EQ(heard.late, 3U);
    direct.host.run(holder.commit(call));
    ask_many(pool, 8, std::chrono::seconds(30), heard);
    EXPECT_EQ(heard.right, 8U);
    EXPECT_EQ(pool.backend(), backend);
    // Its caller left, the statement did not.
    EXPECT_EQ(direct.query("select value from pg_stall").value<std::int32_t>(0, 0), 7);
    EXPECT_EQ(pool.proxy.said(cancel_request), 0U);
    EXPECT_EQ(pool.proxy.connections(), 1U);
}

TEST(Stalls, OnlyAnExclusiveConnectionIsCancelled) {
    TestPool direct;
    FaultyPool pool(direct.host, shared_options());
    const std::int32_t shared = pool.backend();
    Call call = direct.host.call();
    {
        Transaction transaction = direct.host.run(pool.pool.begin(call));
        Call hasty = direct.host.call(milliseconds(50));
        const auto failure = direct.host.run(
            runtime::failure_of(transaction.query(hasty, {{"select pg_sleep(60)"}, {}})));
        EXPECT_TRUE(is_a<runtime::DeadlineExceeded>(failure));
    }
    const Query sleeping{{"select count(*) from pg_stat_activity where query like "
                          "'select pg_sleep(60)%' and state = 'active'"},
                         {},
                         false};
    while (pool.query_when_up(sleeping).value<std::int64_t>(0, 0) > 0) {
    }
    EXPECT_EQ(pool.proxy.said(cancel_request), 1U);
    EXPECT_EQ(pool.backend(), shared);
}

TEST(Stalls, AFirstConnectionThatIsSlowIsWaitedFor) {
    TestPool direct;
    const runtime::Faults slow{.delay = milliseconds(20)};
    FaultyPool pool(direct.host, shared_options(), {.to_server = slow, .to_client = slow});
    Heard heard;
    ask_many(pool, 5, std::chrono::seconds(30), heard);
    EXPECT_EQ(heard.right, 5U);
}

TEST(Stalls, AServerThatNeverAnswersIsToldOfInTime) {
    TestPool direct;
    PoolOptions options = shared_options();
    options.connect_timeout = milliseconds(200);
    FaultyPool pool(direct.host, options);
    pool.proxy.stop_answering();
    Call hasty = direct.host.call(milliseconds(20));
    EXPECT_TRUE(is_a<runtime::DeadlineExceeded>(
        direct.host.run(runtime::failure_of(pool.pool.query(hasty, numbered(1))))));
    Call call = direct.host.call();
    try {
        (void)direct.host.run(pool.pool.query(call, numbered(1)));
        ADD_FAILURE() << "nobody answered";
    } catch (const runtime::Unavailable& away) {
        EXPECT_EQ(away.advice(), runtime::Advice::repeat);
        EXPECT_NE(std::string(away.what()).find("did not answer in time"), std::string::npos)
            << away.what();
    }
}

/// A transaction that wrote a row, over a way that then stands still until the server gives up.
class ForgottenTransaction {
public:
    ForgottenTransaction() : pool(direct.host, options()), call(direct.host.call()) {
        direct.script("drop table if exists pg_stall; create table pg_stall(id int8)");
        transaction = direct.host.run(pool.pool.begin(call));
        backend = direct.host.run(transaction.query(call, {{"select pg_backend_pid()"}, {}}))
                      .value<std::int32_t>(0, 0);
        insert(1);
    }
    void insert(std::int64_t id) {
        (void)direct.host.run(
            transaction.query(call, {{"insert into pg_stall values ($1)"}, Parameters::of(id)}));
    }
    void wait_for_server() {
        const auto gone = "select count(*) from pg_stat_activity where pid = $1";
        while (direct.query(gone, Parameters::of(backend)).value<std::int64_t>(0, 0) > 0) {
        }
    }
    std::int64_t rows() {
        return direct.query("select count(*) from pg_stall").value<std::int64_t>(0, 0);
    }
    std::exception_ptr commit() {
        return direct.host.run(runtime::failure_of(transaction.commit(call)));
    }

    TestPool direct;
    FaultyPool pool;
    Call call;
    Transaction transaction;
    std::int32_t backend = 0;

private:
    static PoolOptions options() {
        PoolOptions options = shared_options();
        options.idle_in_transaction_timeout = milliseconds(200);
        return options;
    }
};

TEST(Stalls, ATransactionForgottenOnItsWayIsDroppedAndItsCommitIsInDoubt) {
    ForgottenTransaction forgotten;
    forgotten.pool.proxy.hold();
    forgotten.wait_for_server();
    // The farewell is still on its way: COMMIT leaves, and nobody can know what became of it.
    const auto committing = [&](std::size_t i) -> awaitable<void> {
        if (i == 1) {
            co_await runtime::pause_for(milliseconds(20));
            forgotten.pool.proxy.release();
            co_return;
        }
        const auto failure =
            co_await runtime::failure_of(forgotten.transaction.commit(forgotten.call));
        EXPECT_TRUE(is_a<runtime::OutcomeUnknown>(failure));
    };
    forgotten.direct.host.run(all_of(forgotten.direct.host.core, 2, committing));
    EXPECT_EQ(forgotten.rows(), 0);
}

TEST(Stalls, ATransactionWhoseEndWasHeardOfMayBeRepeated) {
    ForgottenTransaction forgotten;
    forgotten.wait_for_server();
    // The loss is noticed while nothing is asked.
    for (int turn = 0; turn < 100; ++turn) (void)forgotten.pool.backend();
    const auto failure = forgotten.commit();
    EXPECT_TRUE(is_a<runtime::Unavailable>(failure));
    EXPECT_FALSE(is_a<runtime::OutcomeUnknown>(failure));
    EXPECT_EQ(forgotten.rows(), 0);
}

TEST(Stalls, AStatementOfATransactionThatStopsHalfWayWritesNothing) {
    ForgottenTransaction forgotten;
    forgotten.pool.proxy.afflict({.to_server = {.stall_at = 10}, .to_client = {}});
    const auto failure = forgotten.direct.host.run(runtime::failure_of(
        forgotten.transaction.query(forgotten.call, {{"insert into pg_stall values (2)"}, {}})));
    EXPECT_TRUE(is_a<runtime::Unavailable>(failure));
    EXPECT_FALSE(is_a<runtime::OutcomeUnknown>(failure));
    forgotten.wait_for_server();
    EXPECT_EQ(forgotten.rows(), 0);
}

TEST(Stalls, ACommitWhoseAnswerDoesNotComeIsInDoubtAndMayHaveHappened) {
    ForgottenTransaction forgotten;
    forgotten.pool.proxy.hold();
    forgotten.call = forgotten.direct.host.call(milliseconds(100));
    EXPECT_TRUE(is_a<runtime::OutcomeUnknown>(forgotten.commit()));
    while (forgotten.rows() == 0) {
    }
    EXPECT_EQ(forgotten.rows(), 1);
    forgotten.pool.proxy.release();
}

TEST(Frozen, ABackendForAMomentLosesNothing) {
    TestPool direct;
    FaultyPool pool(direct.host, shared_options());
    const std::int32_t backend = pool.backend();
    Halt halt(backend);
    Heard heard;
    ask_many(pool, 6, milliseconds(50), heard);
    EXPECT_EQ(heard.late, 6U);
    halt.end();
    ask_many(pool, 6, std::chrono::seconds(30), heard);
    EXPECT_EQ(heard.right, 6U);
    EXPECT_EQ(pool.backend(), backend);
}

TEST(Frozen, ABackendForLongIsLeft) {
    TestPool direct;
    PoolOptions options = shared_options();
    options.statement_timeout = milliseconds(50);
    options.answer_grace = milliseconds(50);
    FaultyPool pool(direct.host, options);
    const std::int32_t backend = pool.backend();
    const Halt halt(backend);
    Heard heard;
    ask_many(pool, 6, std::chrono::seconds(30), heard);
    EXPECT_EQ(heard.lost, 6U);
    EXPECT_NE(pool.backend(), backend);
}

TEST(Frozen, APostmasterMeansNoNewConnectionsUntilItGoesOn) {
    TestPool direct;
    const std::int32_t postmaster =
        parent_of(direct.query("select pg_backend_pid()").value<std::int32_t>(0, 0));
    PoolOptions options = shared_options();
    options.connect_timeout = milliseconds(300);
    FaultyPool pool(direct.host, options);
    (void)pool.backend();
    Halt halt(postmaster);
    Heard heard;
    ask_many(pool, 3, std::chrono::seconds(30), heard);
    EXPECT_EQ(heard.right, 3U);  // what is connected goes on
    pool.proxy.cut();
    const auto told = [&] {
        return pool.pool.why_down().find("did not answer in time") != std::string::npos;
    };
    while (!told()) ask_many(pool, 1, std::chrono::seconds(30), heard);
    EXPECT_FALSE(pool.pool.is_up());
    halt.end();
    (void)pool.backend();
    ask_many(pool, 3, std::chrono::seconds(30), heard);
    EXPECT_EQ(heard.right, 6U);
}

}  // namespace
}  // namespace tenon::postgres
