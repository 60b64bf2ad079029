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

/// Lets a call belong to the trace of its request, and decides whether its spans are kept.
///
/// Shape:   a trace that is joined keeps its caller's choice; one that begins here is sampled by
///          the configured ratio.
/// Returns: whether a traceparent was followed.
bool begin_trace(runtime::Core& core, const Request& request, runtime::Call& call);

/// Keeps the span of a request, where its trace is sampled, and logs it at debug.
///
/// Cost: two branches where neither is asked for.
void record(const Answered& answered, const runtime::Call& call);
/// The same for an answer at hand, which had no call. Its trace is looked at only when spans are
/// kept at all.
void record(const Answered& answered);

}  // namespace tenon::http
