#include "http/record.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "http/trace.hpp"
#include "runtime/log.hpp"
#include "runtime/span.hpp"
#include "runtime/span_queue.hpp"

namespace tenon::http {

namespace {

constexpr std::size_t path_shown_max = 512;

std::string_view shown_path(const Request& request) {
    return request.path.substr(0, path_shown_max);
}

// What the path is an instance of; empty for one that leads nowhere.
std::string_view route_of(const Route& route) {
    const bool serves = route.kind == Route::Kind::endpoint || route.kind == Route::Kind::fallback;
    return serves ? route.endpoint->spec.path : std::string_view();
}

std::string span_name(const Answered& answered) {
    std::string name(answered.request.method == Method::other ? std::string_view("HTTP")
                                                              : name_of(answered.request.method));
    const std::string_view route = route_of(answered.route);
    if (!route.empty()) name.append(" ").append(route);
    return name;
}

std::vector<runtime::SpanAttribute> attributes_of(const Answered& answered) {
    const Request& request = answered.request;
    const auto text = [](std::string_view from) { return std::string(from); };
    std::vector<runtime::SpanAttribute> all{
        {.name = "http.request.method",
         .value = text(request.method == Method::other ? "_OTHER" : name_of(request.method))},
        {.name = "url.path", .value = text(shown_path(request))},
        {.name = "url.scheme", .value = text(request.secure ? "https" : "http")},
        {.name = "http.response.status_code",
         .value = static_cast<std::int64_t>(answered.response.status())}};
    const std::string_view route = route_of(answered.route);
    if (!route.empty()) all.push_back({.name = "http.route", .value = text(route)});
    if (!request.remote_address.empty()) {
        all.push_back({.name = "client.address", .value = text(request.remote_address)});
    }
    if (answered.response.status() >= 500) {
        all.push_back({.name = "error.type", .value = std::to_string(answered.response.status())});
    }
    return all;
}

void keep_span(const Answered& answered, const runtime::Trace& trace) {
    if (!trace.sampled || answered.core.spans() == nullptr) return;
    answered.core.spans()->put({.trace = trace,
                                .kind = runtime::SpanKind::server,
                                .name = span_name(answered),
                                .begin = answered.began,
                                .end = std::chrono::steady_clock::now(),
                                .attributes = attributes_of(answered),
                                .failed = answered.response.status() >= 500});
}

std::int64_t microseconds_since(std::chrono::steady_clock::time_point began) {
    const auto took = std::chrono::steady_clock::now() - began;
    return std::chrono::duration_cast<std::chrono::microseconds>(took).count();
}

void log_line(const Answered& answered, const runtime::Call& call) {
    runtime::log(runtime::Level::debug, call, "A request was answered.",
                 {{"method", name_of(answered.request.method)},
                  {"path", shown_path(answered.request)},
                  {"status", answered.response.status()},
                  {"microseconds", microseconds_since(answered.began)}});
}

}  // namespace

bool begin_trace(runtime::Core& core, const Request& request, runtime::Trace& trace) {
    const bool joined = join_trace(request, trace);
    if (!joined && core.spans() != nullptr) {
        trace.sampled = core.spans()->samples(trace.trace_id);
    }
    return joined;
}

void record(const Answered& answered, const runtime::Call& call) {
    keep_span(answered, call.trace);
    if (runtime::logs(runtime::Level::debug)) log_line(answered, call);
}

void record(const Answered& answered) {
    const bool logged = runtime::logs(runtime::Level::debug);
    if (answered.core.spans() == nullptr && !logged) return;
    runtime::Trace trace = answered.core.make_trace();
    begin_trace(answered.core, answered.request, trace);
    keep_span(answered, trace);
    if (!logged) return;
    runtime::Call call = answered.core.make_call({});
    call.trace = std::move(trace);
    call.client_address = answered.request.remote_address;
    log_line(answered, call);
}

}  // namespace tenon::http
