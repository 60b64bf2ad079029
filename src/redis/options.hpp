// How to reach a node, and what waiting for it may cost.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "redis/reply.hpp"

namespace tenon::redis {

/// Settings of a Client or Subscriber; the defaults fit a server in the same data centre.
struct ClientOptions {
    /// "unix:/path", "host:port" or "[v6 address]:port".
    std::string address;
    std::string username;  ///< empty: none
    std::string password;  ///< empty: none
    /// Connecting, authenticating and the first PING together, > 0.
    std::chrono::milliseconds connect_timeout{1'000};
    /// A caller leaves after this, > 0; hot state is worth little when late.
    std::chrono::milliseconds command_timeout{20};
    /// A reply this many command timeouts late closes the connection, >= 2: a stalled server or a
    /// dead path is left and tried anew, while a short pause keeps the connection.
    int overdue_timeouts = 10;
    /// Commands whose reply has not come, also those their callers have left; one more is
    /// Unavailable at once.
    std::size_t in_flight_max = 16'384;
    /// Bytes of commands that wait to be written; when more wait, commands are Unavailable at once.
    std::size_t unsent_bytes_max = 32 << 20;
    /// A Subscriber that heard nothing for this long asks PING, and after as long again reconnects.
    std::chrono::milliseconds ping_interval{1'000};
    ReplyLimits limits{};
};

}  // namespace tenon::redis
