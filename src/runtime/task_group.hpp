// Who starts a coroutine also ends it.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <functional>
#include <list>
#include <memory>
#include <string>

namespace tenon::runtime {

/// Coroutines that their owner cancels and joins.
///
/// Expects: it is its owner's last member, and join() was awaited before it is destroyed.
/// Threads: the io_context's own.
class TaskGroup {
public:
    explicit TaskGroup(boost::asio::io_context& io);
    ~TaskGroup();
    TaskGroup(const TaskGroup&) = delete;
    TaskGroup& operator=(const TaskGroup&) = delete;

    /// Starts a coroutine on the group's core. One that ends by an exception other than
    /// cancellation is logged and counted under `name`.
    void spawn(std::string name, boost::asio::awaitable<void> task);
    /// Asks all to end (terminal cancellation). Those spawned later are cancelled at once.
    void cancel();
    /// Returns when all have ended.
    boost::asio::awaitable<void> join();
    /// The same for tasks that refer to the frame of their joiner: when the joiner is cancelled,
    /// they are too, and it leaves only after the last of them.
    boost::asio::awaitable<void> join_fully();
    [[nodiscard]] std::size_t size() const;

private:
    struct State;
    std::shared_ptr<State> state_;
};

}  // namespace tenon::runtime
