// Interactive transactions and scripts.
#include <gtest/gtest.h>

#include <boost/asio/awaitable.hpp>

#include "postgres/test_pool.hpp"
#include "runtime/failure.hpp"

namespace tenon::postgres {
namespace {

using boost::asio::awaitable;
using runtime::Call;
using std::chrono::milliseconds;

constexpr const char* insert_row = "insert into pg_room_rows values ($1)";

Query insert(std::int64_t id) {
    return {{insert_row}, Parameters::of(id)};
}

void fresh_table(TestPool& pool) {
    pool.script(
        "drop table if exists pg_room_rows; create table pg_room_rows(id int8 primary key)");
}

std::int64_t rows_total(TestPool& pool) {
    return pool.query("select count(*) from pg_room_rows").value<std::int64_t>(0, 0);
}

PoolOptions one_transaction() {
    PoolOptions options = test_options();
    options.exclusive_max = 1;
    return options;
}

TEST(Transaction, TakesEffectAtCommit) {
    TestPool pool;
    fresh_table(pool);
    Call call = pool.host.call();
    Transaction transaction = pool.host.run(pool.pool.begin(call));
    (void)pool.host.run(transaction.query(call, insert(1)));
    EXPECT_EQ(rows_total(pool), 0);
    (void)pool.host.run(transaction.query(call, insert(2)));
    pool.host.run(transaction.commit(call));
    EXPECT_EQ(rows_total(pool), 2);
}

TEST(Transaction, RollsBackWhenAskedOrDestroyed) {
    TestPool pool(one_transaction());
    fresh_table(pool);
    Call call = pool.host.call();
    {
        Transaction transaction = pool.host.run(pool.pool.begin(call));
        (void)pool.host.run(transaction.query(call, insert(1)));
        pool.host.run(transaction.rollback(call));
    }
    std::int32_t backend = 0;
    {
        Transaction transaction = pool.host.run(pool.pool.begin(call));
        backend = pool.host.run(transaction.query(call, {{"select pg_backend_pid()"}, {}}))
                      .value<std::int32_t>(0, 0);
        (void)pool.host.run(transaction.query(call, insert(1)));
    }
    // The only connection comes back without its transaction.
    Transaction next = pool.host.run(pool.pool.begin(call));
    EXPECT_EQ(pool.host.run(next.query(call, {{"select pg_backend_pid()"}, {}}))
                  .value<std::int32_t>(0, 0),
              backend);
    (void)pool.host.run(next.query(call, insert(1)));
    pool.host.run(next.commit(call));
    EXPECT_EQ(rows_total(pool), 1);
}

TEST(Transaction, SaysWhenACommitRolledBack) {
    TestPool pool;
    fresh_table(pool);
    Call call = pool.host.call();
    Transaction transaction = pool.host.run(pool.pool.begin(call));
    (void)pool.host.run(transaction.query(call, insert(1)));
    EXPECT_THROW((void)pool.host.run(transaction.query(call, insert(1))), QueryFailed);
    try {
        pool.host.run(transaction.commit(call));
        FAIL() << "a failed transaction was committed";
    } catch (const QueryFailed& failed) {
        EXPECT_TRUE(failed.is("25P02"));
    }
    EXPECT_EQ(rows_total(pool), 0);
}

TEST(Transaction, WaitsForAFreeConnectionUntilItsDeadline) {
    TestPool pool(one_transaction());
    Call call = pool.host.call();
    Transaction first = pool.host.run(pool.pool.begin(call));
    Call hasty = pool.host.call(milliseconds(20));
    EXPECT_THROW((void)pool.host.run(pool.pool.begin(hasty)), runtime::DeadlineExceeded);

    std::vector<int> order;
    const auto work = [&](std::size_t i) -> awaitable<void> {
        Call own = pool.host.call();
        if (i == 2) {  // begins last, and ends what the others wait for
            order.push_back(0);
            co_await first.rollback(own);
            co_return;
        }
        Transaction waited = co_await pool.pool.begin(own);
        order.push_back(static_cast<int>(i) + 1);
        (void)co_await waited.query(own, {{"select 1"}, {}});
        co_await waited.commit(own);
    };
    (void)pool.host.run(first.query(call, {{"select 1"}, {}}));
    pool.host.run(all_of(pool.host.core, 3, work));
    EXPECT_EQ(order, (std::vector<int>{0, 1, 2}));
}

TEST(Transaction, IsEndedOnTheServerWhenItsDeadlinePasses) {
    TestPool pool(one_transaction());
    fresh_table(pool);
    Call call = pool.host.call();
    {
        Transaction transaction = pool.host.run(pool.pool.begin(call));
        (void)pool.host.run(transaction.query(call, insert(1)));
        Call hasty = pool.host.call(milliseconds(30));
        EXPECT_THROW((void)pool.host.run(transaction.query(hasty, {{"select pg_sleep(60)"}, {}})),
                     runtime::DeadlineExceeded);
        EXPECT_THROW((void)pool.host.run(transaction.query(call, insert(2))), std::logic_error);
    }
    // Waits for the lock of the first: so that one must have been rolled back.
    Transaction next = pool.host.run(pool.pool.begin(call));
    (void)pool.host.run(next.query(call, insert(1)));
    pool.host.run(next.commit(call));
    EXPECT_EQ(rows_total(pool), 1);
}

TEST(Script, RunsSeveralStatementsAsOneTransaction) {
    TestPool pool;
    fresh_table(pool);
    pool.script("insert into pg_room_rows values (1); insert into pg_room_rows values (2)");
    EXPECT_EQ(rows_total(pool), 2);
    try {
        pool.script("insert into pg_room_rows values (3); insert into pg_room_rows values (1)");
        FAIL();
    } catch (const QueryFailed& failed) {
        EXPECT_TRUE(failed.is("23505"));
    }
    EXPECT_EQ(rows_total(pool), 2);
}

TEST(Script, MayBuildAnIndexConcurrently) {
    TestPool pool;
    fresh_table(pool);
    pool.script("create index concurrently on pg_room_rows(id)");
}

TEST(Script, GivesUpALockAfterItsTime) {
    TestPool pool;
    fresh_table(pool);
    Call call = pool.host.call();
    Transaction holder = pool.host.run(pool.pool.begin(call));
    (void)pool.host.run(holder.query(call, insert(1)));
    try {
        pool.host.run(pool.pool.run_script(call, "alter table pg_room_rows add column x int8",
                                           milliseconds(20)));
        FAIL();
    } catch (const QueryFailed& failed) {
        EXPECT_TRUE(failed.is("55P03"));
    }
    pool.host.run(holder.rollback(call));
}

TEST(Script, EndsByItsDeadline) {
    TestPool pool;
    Call call = pool.host.call(milliseconds(100));
    EXPECT_THROW(pool.host.run(pool.pool.run_script(call, "select pg_sleep(60)")),
                 runtime::DeadlineExceeded);
}

}  // namespace
}  // namespace tenon::postgres
