// What every asynchronous function takes first: until when, for whom, and under which claim.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "base/hash.hpp"
#include "base/uuid.hpp"

namespace tenon::runtime {

class Core;

/// The instant after which an answer is of no use to anybody.
using Deadline = std::chrono::steady_clock::time_point;

/// Which requests are shed first; the lowest goes first.
enum class Priority : std::uint8_t { bulk, normal, core, vital };

using TraceId = std::array<std::uint8_t, 16>;
using SpanId = std::array<std::uint8_t, 8>;

/// W3C trace context.
struct Trace {
    TraceId trace_id{};
    SpanId span_id{};        ///< what runs now: the parent of whatever it starts
    SpanId parent_id{};      ///< the span that asked for it; all zero: none
    bool sampled = false;    ///< its spans are for the collector, where there is one
    std::string state = {};  ///< tracestate as it came, to be passed on; mostly empty
};

/// An idempotency claim: the service's store writes it in its own transaction with the outcome.
struct Claim {
    std::string key;           ///< the client's Idempotency-Key, 1 .. 255 bytes of printable ASCII
    base::Digest fingerprint;  ///< over method, path, caller and canonical body
    bool replayed = false;     ///< set by the store when the answer is the stored one
};

/// One request, or one run of background work.
///
/// Owns:    everything but the core.
/// Threads: its core only. Lives until the coroutine that received it has ended.
struct Call {
    Core* core = nullptr;
    Deadline deadline;
    Trace trace;
    Priority priority = Priority::normal;
    base::Uuid project;   ///< nil for work that belongs to no project
    std::string subject;  ///< of an end-user token; empty for API keys
    /// Who asked, as http::Request::remote_address says it; empty for background work.
    std::string client_address;
    std::optional<Claim> claim;
    base::Time now;  ///< business time, read once at the edge

    [[nodiscard]] std::chrono::nanoseconds remaining() const {
        return deadline - std::chrono::steady_clock::now();
    }
    [[nodiscard]] bool expired() const { return remaining().count() <= 0; }
};

}  // namespace tenon::runtime
