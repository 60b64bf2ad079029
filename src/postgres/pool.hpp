// PostgreSQL for one core and one node: multiplexed pipelines and exclusive transactions.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "postgres/failure.hpp"
#include "postgres/query.hpp"
#include "postgres/rows.hpp"
#include "postgres/timeline.hpp"
#include "runtime/call.hpp"
#include "runtime/core.hpp"

namespace tenon::runtime {
class BlockingThread;
}

namespace tenon::postgres {

/// How a pool connects, and its bounds.
struct PoolOptions {
    std::string conninfo;             ///< libpq keyword/value string or URI; TLS by sslmode
    std::size_t multiplexed = 2;      ///< connections shared by pipelined statements, >= 1
    std::size_t exclusive_max = 8;    ///< connections for interactive transactions
    std::size_t waiting_max = 4'096;  ///< statements in flight or waiting; one more is Unavailable
    std::chrono::milliseconds connect_timeout{2'000};
    std::chrono::milliseconds statement_timeout{5'000};  ///< set in the session (foundation 7)
    /// A connection that brings no answer for statement_timeout and this long is given up: its
    /// server is frozen, or bytes were damaged on their way.
    std::chrono::milliseconds answer_grace{2'000};
    std::chrono::milliseconds lock_timeout{2'000};
    std::chrono::milliseconds idle_in_transaction_timeout{2'000};
    /// What this process knows of its servers' timelines; shared by all of its pools. Null: a
    /// replaced primary that comes back is not told from the present one.
    std::shared_ptr<Timelines> timelines = nullptr;
    /// Where cancel requests block; shared with others. Null: a thread of its own, at first need.
    runtime::BlockingThread* blocking = nullptr;
};

/// An exclusive connection between BEGIN and COMMIT.
///
/// Cancel:  past its deadline a statement is cancelled on the server, then drained to the sync or
///          the connection is closed. Destroyed without commit: rolled back.
class Transaction {
public:
    /// None; to be assigned to.
    Transaction();
    Transaction(Transaction&&) noexcept;
    Transaction& operator=(Transaction&&) noexcept;
    ~Transaction();
    boost::asio::awaitable<Rows> query(runtime::Call& call, Query query);
    /// Throws OutcomeUnknown when COMMIT was sent and no result came.
    boost::asio::awaitable<void> commit(runtime::Call& call);
    boost::asio::awaitable<void> rollback(runtime::Call& call);

private:
    friend class Pool;
    struct State;
    explicit Transaction(std::unique_ptr<State> state);
    [[nodiscard]] State& usable();
    std::unique_ptr<State> state_;
};

/// Connections of one core to one PostgreSQL server.
///
/// Expects: close() was awaited before it is destroyed.
/// Threads: its core only.
/// Errors:  QueryFailed; Unavailable (away: says since when and why; refused at the bound; advice
///          repeat when nothing was sent); DeadlineExceeded (the result is dropped, a multiplexed
///          connection is never cancelled); OutcomeUnknown (connection lost after a writing
///          pipeline was sent).
/// Cost:    one round trip each; statements of all callers share packets.
class Pool {
public:
    Pool(runtime::Core& core, PoolOptions options);
    ~Pool();

    /// One statement in its own implicit transaction, on a multiplexed connection.
    boost::asio::awaitable<Rows> query(runtime::Call& call, Query query);
    /// All statements in one implicit transaction and one round trip: they take effect together
    /// or not at all. Results in order.
    boost::asio::awaitable<std::vector<Rows>> atomically(runtime::Call& call,
                                                         std::vector<Query> queries);
    /// BEGIN (READ COMMITTED) on an exclusive connection.
    boost::asio::awaitable<Transaction> begin(runtime::Call& call);
    /// Several statements in simple protocol, for migrations; no parameters, no rows. On a
    /// connection of its own without statement_timeout: the deadline bounds it. Several statements
    /// are one transaction unless they say BEGIN; a single one may be CREATE INDEX CONCURRENTLY.
    boost::asio::awaitable<void> run_script(
        runtime::Call& call, std::string sql,
        std::chrono::milliseconds lock_timeout = std::chrono::milliseconds(2'000));
    /// True while at least one multiplexed connection is up; never waits.
    [[nodiscard]] bool is_up() const;
    /// Why it is not up; empty when it is.
    [[nodiscard]] std::string why_down() const;
    /// Ends all connections after what is in flight, at most until the call's deadline.
    boost::asio::awaitable<void> close(runtime::Call& call);

private:
    friend class Transaction;
    struct State;
    std::shared_ptr<State> state_;
};

}  // namespace tenon::postgres
