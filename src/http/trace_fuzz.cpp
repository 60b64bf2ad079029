// What is followed of a trace is what was sent, and what is passed on can be read again.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/assert.hpp"
#include "http/trace.hpp"

using namespace tenon;

namespace {

void check_parent(std::string_view text) {
    runtime::Trace trace;
    if (!http::read_traceparent(text, trace)) return;
    trace.span_id[0] = 1;
    const std::string written = http::format_traceparent(trace);
    TENON_ASSERT(written.substr(3, 32) == text.substr(3, 32));
    runtime::Trace again;
    TENON_ASSERT(http::read_traceparent(written, again));
    TENON_ASSERT(again.trace_id == trace.trace_id && again.sampled == trace.sampled);
}

// One line, or two that say the same.
void check_state(std::string_view text, std::size_t cut) {
    http::Request request;
    request.headers = {{"tracestate", text}};
    const std::string state = http::read_tracestate(request);
    TENON_ASSERT(state.size() <= 512);
    TENON_ASSERT(state.find_first_of("\r\n") == std::string::npos);
    request.headers = {{"TraceState", state}};
    TENON_ASSERT(http::read_tracestate(request) == state);
    const std::size_t comma = text.find(',', std::min(cut, text.size()));
    if (comma == std::string_view::npos) return;
    request.headers = {{"tracestate", text.substr(0, comma)},
                       {"tracestate", text.substr(comma + 1)}};
    TENON_ASSERT(http::read_tracestate(request) == state);
}

}  // namespace

// The first byte says where a list is cut in two.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
    check_parent(text);
    check_state(text, data[0]);
    runtime::Trace trace;
    const runtime::Trace before = trace;
    if (!http::read_request_id(text, trace)) TENON_ASSERT(trace.trace_id == before.trace_id);
    return 0;
}
