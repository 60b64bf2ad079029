// What is told of a request once it is answered: its span, and its line in the log.
#pragma once

#include <chrono>

#include "http/message.hpp"
#include "http/route.hpp"
#include "runtime/call.hpp"
#include "runtime/core.hpp"

namespace tenon::http {

/// A request and its answer.
///
/// Owns: nothing.
struct Answered {
    runtime::Core& core;
    const Request& request;
    const Route& route;
    const Response& response;
    std::chrono::steady_clock::time_point began;
};

/// Lets a trace be that of its request, and decides whether its spans are kept.
///
/// Shape:   a trace that is joined keeps its caller's choice; one that begins here is sampled by
///          the configured ratio.
/// Returns: whether a traceparent was followed.
bool begin_trace(runtime::Core& core, const Request& request, runtime::Trace& trace);

/// Keeps the span of a request, where its trace is sampled, and logs it at debug.
///
/// Cost: two branches where neither is asked for.
void record(const Answered& answered, const runtime::Call& call);
/// The same for an answer at hand, which had no call.
///
/// Cost: two branches where there is no collector and nothing is logged at debug; with a collector
///       the ids and a look at the headers, and the rest only where the trace is sampled.
void record(const Answered& answered);

}  // namespace tenon::http
