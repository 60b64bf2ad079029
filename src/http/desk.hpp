// What all connections of one core share.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <list>
#include <string>
#include <string_view>

#include "http/address.hpp"
#include "http/body_budget.hpp"
#include "http/buffer_pool.hpp"
#include "http/compress.hpp"
#include "http/dispatch.hpp"
#include "http/head.hpp"
#include "http/message.hpp"
#include "http/poller.hpp"
#include "http/response_text.hpp"
#include "http/server.hpp"
#include "http/tls.hpp"
#include "runtime/core.hpp"
#include "runtime/metrics.hpp"
#include "runtime/task_group.hpp"

namespace tenon::http {

class Connection;

/// What a connection waits for; each has its own timeout.
enum class Wait : std::uint8_t {
    idle,     ///< the next request
    head,     ///< the rest of a head
    body,     ///< the rest of a body
    write,    ///< room to write: the client does not read
    linger,   ///< the client's end, so that it can read why it was refused
    handler,  ///< its own handler, which has a deadline
};
inline constexpr std::size_t waits_total = 6;

/// Every connection of a core, by what it waits for, the longest waiting first.
///
/// Since all waits of a kind last equally long, each list is in the order of its deadlines:
/// starting a wait is a splice to the end, and one timer per core looks at the fronts.
///
/// Owns:    the connections.
/// Threads: its core's.
using Waiters = std::array<std::list<Connection>, waits_total>;

/// What all cores of one server share.
///
/// Owns: nothing; the server does, and outlives its cores' work.
struct Office {
    const Dispatcher& dispatcher;
    const ServerOptions& options;
    const Limits& limits;
    const Networks& trusted_proxies;
    Certificate* certificate;                    ///< nullptr: no TLS
    std::atomic<std::size_t>& connections_open;  ///< of the process
    BodyBudget& bodies;                          ///< of the process
};

/// What all connections of one core share.
struct Desk {
    using Instant = std::chrono::steady_clock::time_point;

    Desk(runtime::Core& on, const Office& of);

    /// Reads the clocks: once per turn of the loop, not per request.
    void read_clocks();
    /// How long a wait of that kind may last; zero: no bound here.
    [[nodiscard]] std::chrono::milliseconds timeout(Wait wait) const;
    [[nodiscard]] std::list<Connection>& waiting(Wait wait) {
        return waiters[static_cast<std::size_t>(wait)];
    }

    runtime::Core& core;
    const Office& office;
    const Dispatcher& dispatcher;
    const ServerOptions& options;
    BufferPool buffers;
    DateLine date_line;
    std::string_view date;
    Instant now;
    Response scratch;       ///< for answers that need no waiting
    std::string spare_out;  ///< warm memory for what is written next
    Compressor compressor;
    runtime::Counter refused;            ///< requests that never became one
    runtime::Counter bodies_refused;     ///< of those, for want of memory
    runtime::Counter handshakes_failed;  ///< of TLS
    bool draining = false;
    Waiters waiters;
    Poller poller;
    runtime::TaskGroup tasks;
};

}  // namespace tenon::http
