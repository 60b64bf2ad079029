// Connections lent to one transaction at a time.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <deque>
#include <memory>
#include <vector>

#include "postgres/connection.hpp"
#include "runtime/blocking_thread.hpp"
#include "runtime/call.hpp"
#include "runtime/core.hpp"
#include "runtime/task_group.hpp"
#include "runtime/wait.hpp"

namespace tenon::postgres {

/// At most `connections_max` connections, opened when needed, kept afterwards.
///
/// Threads: its core only.
class Exclusives {
public:
    struct Bounds {
        std::size_t connections_max;
        std::size_t waiting_max;
        std::chrono::milliseconds connect_timeout;
        runtime::BlockingThread* blocking;  ///< null: one of its own, at first need
    };
    Exclusives(runtime::Core& core, const Startup& startup, Statements& statements,
               runtime::WaitList& callers, runtime::TaskGroup& tasks, Bounds bounds);

    /// A connection with nothing in flight and no transaction open; first come, first served.
    ///
    /// Errors: runtime::Unavailable (no connection can be made, or too many wait),
    ///         runtime::DeadlineExceeded.
    boost::asio::awaitable<std::shared_ptr<Connection>> acquire(runtime::Call& call);
    /// Gives it back. Expects: no transaction is open on it. A lost one is forgotten.
    void release(std::shared_ptr<Connection> connection);
    /// Rolls back and releases, or closes what does not answer in time.
    void recover(std::shared_ptr<Connection> connection);
    /// The same while a statement runs, which is cancelled on the server before. A COMMIT is not:
    /// it may end in its own time.
    void interrupt(std::shared_ptr<Connection> connection, std::shared_ptr<Exchange> running,
                   bool cancel);

    [[nodiscard]] std::size_t lent() const { return open_ - idle_.size(); }
    [[nodiscard]] std::size_t waiting() const { return waiters_.size(); }
    /// Returns when none is lent any more, or at the deadline.
    boost::asio::awaitable<void> returned(runtime::Deadline deadline);
    /// Ends the thread for cancel requests, if there was need for one.
    void stop();

private:
    /// A caller in the queue; woken with a connection or to try again.
    struct Waiter {
        explicit Waiter(boost::asio::io_context& io) : woken(io) {}
        boost::asio::steady_timer woken;
        std::shared_ptr<Connection> connection;
        bool called = false;
    };

    boost::asio::awaitable<std::shared_ptr<Connection>> open(runtime::Call& call);
    boost::asio::awaitable<std::shared_ptr<Connection>> wait_in_line(runtime::Call& call);
    boost::asio::awaitable<void> hold(std::shared_ptr<Connection> connection);
    boost::asio::awaitable<void> roll_back(std::shared_ptr<Connection> connection);
    boost::asio::awaitable<void> end_statement(std::shared_ptr<Connection> connection,
                                               std::shared_ptr<Exchange> running, bool cancel);
    boost::asio::awaitable<void> send_cancel(Connection& connection, runtime::Call& call);
    [[nodiscard]] runtime::BlockingThread& blocking();
    [[nodiscard]] std::shared_ptr<Connection> take_idle();
    void call_next(std::shared_ptr<Connection> connection);
    void note_returned();

    runtime::Core& core_;
    const Startup& startup_;
    Statements& statements_;
    runtime::WaitList& callers_;
    runtime::TaskGroup& tasks_;
    Bounds bounds_;
    std::vector<std::shared_ptr<Connection>> idle_;
    std::deque<std::shared_ptr<Waiter>> waiters_;
    std::size_t open_ = 0;  ///< open or being opened
    runtime::Event all_back_;
    std::unique_ptr<runtime::BlockingThread> own_blocking_;
};

}  // namespace tenon::postgres
