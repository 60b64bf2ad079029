// A multiplexed connection that comes back by itself.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <memory>
#include <string>

#include "base/backoff.hpp"
#include "base/clock.hpp"
#include "postgres/connection.hpp"
#include "runtime/core.hpp"
#include "runtime/wait.hpp"

namespace tenon::postgres {

/// Keeps one connection up: connects, waits for its end, waits with full jitter, connects again.
///
/// Threads: its core only.
class Line {
public:
    Line(runtime::Core& core, const Startup& startup, Statements& statements,
         std::chrono::milliseconds connect_timeout);

    /// Runs until cancelled.
    boost::asio::awaitable<void> keep_up();
    /// Returns when the first attempt to connect has ended. Errors: DeadlineExceeded.
    boost::asio::awaitable<void> first_attempt(runtime::Call& call) { return tried_.wait(call); }

    [[nodiscard]] bool is_up() const { return connection_ && !connection_->is_lost(); }
    [[nodiscard]] bool was_tried() const { return tried_.is_set(); }
    /// Since when it is down, and why; empty when it is up.
    [[nodiscard]] std::string why_down() const;
    /// Expects: is_up().
    [[nodiscard]] Connection& connection() const { return *connection_; }

private:
    boost::asio::awaitable<void> attempt();
    void note_down(const std::string& why);

    runtime::Core& core_;
    const Startup& startup_;
    Statements& statements_;
    std::chrono::milliseconds connect_timeout_;
    base::Backoff backoff_;
    std::shared_ptr<Connection> connection_;
    runtime::Event tried_;  ///< set after the first attempt
    std::string why_;
    base::Time down_since_;
};

}  // namespace tenon::postgres
