// One pipelined connection to one node, kept open for as long as it lives.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <span>
#include <string>

#include "base/backoff.hpp"
#include "redis/options.hpp"
#include "redis/pipeline.hpp"
#include "redis/reply.hpp"
#include "redis/session.hpp"
#include "runtime/call.hpp"
#include "runtime/core.hpp"
#include "runtime/metrics.hpp"
#include "runtime/task_group.hpp"
#include "runtime/wait.hpp"
#include "runtime/wait_list.hpp"

namespace tenon::redis {

/// All callers of a core share it; it reconnects with backoff.
///
/// Shape:   commands queued within one turn of the loop leave in one write.
/// Expects: close() was awaited before it is destroyed.
/// Threads: its core only.
class Connection {
public:
    Connection(runtime::Core& core, ClientOptions options);
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    /// Sends a command and gives its reply, an error reply as well.
    ///
    /// Expects: `words` outlives the await.
    /// Cost:    no allocation but the frame and the reply.
    /// Cancel:  leaves; the reply is dropped when it comes.
    /// Errors:  Unavailable (away, full, lost; Advice::repeat when the command was not sent);
    ///          DeadlineExceeded.
    boost::asio::awaitable<Reply> request(runtime::Deadline deadline,
                                          std::span<const std::string> words);

    [[nodiscard]] bool is_up() const { return up_.is_set(); }
    /// Returns when it is up. Errors: DeadlineExceeded.
    boost::asio::awaitable<void> wait_up(runtime::Deadline deadline) { return up_.wait(deadline); }
    /// Empty while it is up.
    [[nodiscard]] const std::string& why_down() const { return why_down_; }
    /// How often a connection was made: what was read over an earlier one is no longer tracked.
    [[nodiscard]] std::uint64_t generation() const { return generation_; }
    /// The server's name for this connection; 0 while down or unknown.
    [[nodiscard]] std::int64_t client_id() const { return client_id_; }
    [[nodiscard]] std::size_t in_flight() const { return pipeline_.in_flight(); }

    /// Refuses new commands, waits for replies until `deadline`, then ends.
    boost::asio::awaitable<void> close(runtime::Deadline deadline);

private:
    class Request;

    boost::asio::awaitable<void> keep();
    boost::asio::awaitable<void> open();
    boost::asio::awaitable<std::string> serve();
    boost::asio::awaitable<std::string> read();
    boost::asio::awaitable<std::string> write();
    boost::asio::awaitable<std::string> watch();
    void go_up(Session session);
    void go_down(std::string why);
    void expect_room() const;

    runtime::Core& core_;
    const ClientOptions options_;
    base::Backoff backoff_;
    const runtime::Counter commands_;
    const runtime::Counter late_;
    const runtime::Counter connections_;
    Pipeline pipeline_;
    Socket socket_;
    runtime::Event up_;
    runtime::Event output_;  ///< set while there is something to write
    runtime::Event drained_;
    std::string why_down_ = "not connected yet";
    std::uint64_t generation_ = 0;
    std::int64_t client_id_ = 0;
    bool closing_ = false;
    runtime::WaitList requests_;
    runtime::TaskGroup tasks_;
};

}  // namespace tenon::redis
