// Whose trace a request belongs to, and what its answer says of it.
#pragma once

#include <string>
#include <string_view>

#include "http/message.hpp"
#include "runtime/call.hpp"

namespace tenon::http {

/// Takes trace id, parent and sampling from a traceparent header; false when it is malformed.
///
/// Source: W3C Trace Context, section 3.2.
[[nodiscard]] bool read_traceparent(std::string_view text, runtime::Trace& trace);

/// The same for an id of 128 bits: 32 hexadecimal digits, or a UUID with its hyphens.
[[nodiscard]] bool read_request_id(std::string_view text, runtime::Trace& trace);

/// "00-TRACE-SPAN-FLAGS", the span being the one of this server.
[[nodiscard]] std::string format_traceparent(const runtime::Trace& trace);

/// The tracestate of a request, its header lines joined; empty when it has none, or one that is
/// malformed or longer than what must be passed on.
///
/// Shape:  at most 512 characters and 32 members, in the order given.
/// Source: W3C Trace Context, section 3.3.
[[nodiscard]] std::string read_tracestate(const Request& request);

/// Lets a call join the trace that its request belongs to.
///
/// Shape:   a well-formed traceparent is followed. Without one, a trusted proxy's Tenon-Request-Id
///          or X-Request-Id becomes the trace id, where it is read_request_id's. All else keeps the
///          id that the call came with: what strangers send is neither believed nor repeated. The
///          tracestate counts beside a traceparent that was followed.
/// Returns: whether a traceparent was followed.
bool join_trace(const Request& request, runtime::Trace& trace);

/// Adds Tenon-Request-Id, traceparent and, where there is one, the tracestate.
void tell_trace(const runtime::Trace& trace, Response& response);

}  // namespace tenon::http
