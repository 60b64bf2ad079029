// Commands in, bytes out; bytes in, replies matched by order. No I/O, no clock.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "redis/reader.hpp"
#include "redis/reply.hpp"

namespace tenon::redis {

/// A connection's end, as one of its commands sees it.
struct Lost {
    std::string_view why;
    bool sent = false;  ///< false: the server cannot have seen the command
};

/// Who waits for the reply to a command; exactly one of the two is called, once.
class Receiver {
public:
    virtual ~Receiver() = default;
    virtual void receive(Reply reply) = 0;
    virtual void lose(const Lost& lost) = 0;
};

/// Appends a command as RESP arrays of bulk strings.
void append_command(std::string& out, std::span<const std::string> words);

/// The state of one pipelined connection.
///
/// Threads: one at a time. A Receiver that is called may push, but not abandon.
/// Cost:    a command is formatted straight into the output; O(1) beyond its bytes.
class Pipeline {
public:
    using Instant = std::chrono::steady_clock::time_point;

    explicit Pipeline(ReplyLimits limits = {}) : reader_(limits) {}

    /// Queues a command and returns its number. `receiver` lives until it is called or abandoned.
    std::uint64_t push(std::span<const std::string> words, Receiver& receiver, Instant now);
    /// Nobody waits any more: the reply is dropped when it comes. A finished number is ignored.
    void abandon(std::uint64_t number);

    [[nodiscard]] bool has_output() const { return !output_.empty(); }
    [[nodiscard]] std::size_t unsent_bytes() const { return output_.size(); }
    /// Swaps all bytes to be sent into `out`, whose own content goes. They count as sent.
    void take_output(std::string& out);
    /// Takes bytes from the server and calls receivers. False: the connection is of no more use,
    /// failure() says why.
    [[nodiscard]] bool receive(std::string_view bytes);
    [[nodiscard]] const std::string& failure() const { return failure_; }
    /// The connection is gone: tells all who wait, and begins anew. Numbers go on.
    void lose_all(std::string_view why);

    /// Commands without a reply, abandoned ones included.
    [[nodiscard]] std::size_t in_flight() const { return pending_.size(); }
    /// When the command was pushed whose reply comes next.
    [[nodiscard]] std::optional<Instant> oldest() const;

private:
    struct Pending {
        Receiver* receiver = nullptr;  ///< null: abandoned
        Instant pushed;
    };
    void hand_over(Reply reply);

    Reader reader_;
    std::string output_;
    std::string failure_;
    std::deque<Pending> pending_;
    std::uint64_t first_ = 0;  ///< number of pending_.front()
    std::uint64_t sent_ = 0;   ///< commands below this number were taken
};

}  // namespace tenon::redis
