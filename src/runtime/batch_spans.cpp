#include "runtime/batch_spans.hpp"

#include <utility>

#include "runtime/span.hpp"
#include "runtime/span_queue.hpp"

namespace tenon::runtime {

namespace {

// OpenTelemetry's default bound, beyond which collectors may cut.
constexpr std::size_t links_max = 128;

SpanLink link_to(const Trace& trace) {
    return {.trace_id = trace.trace_id, .span_id = trace.span_id};
}

// The span of an item within its own trace.
Trace child_of(const Trace& item, SpanId own) {
    Trace child = item;
    child.parent_id = item.span_id;
    child.span_id = own;
    return child;
}

}  // namespace

void BatchSpans::take(const Trace& trace) {
    if (!traces_.empty() && link_to(traces_.back()) == link_to(trace)) return;
    traces_.push_back(trace);
}

void BatchSpans::begin(Call& call) {
    if (traces_.empty()) return;
    began_ = std::chrono::steady_clock::now();
    call.trace = child_of(traces_.front(), call.trace.span_id);
}

void BatchSpans::end(Core& core, const Call& call, std::string_view name, std::size_t items) {
    SpanQueue* const queue = core.spans();
    const auto traces = std::exchange(traces_, {});
    if (traces.empty() || queue == nullptr) return;
    EndedSpan shared{
        .trace = call.trace,
        .kind = SpanKind::internal,
        .name = std::string(name),
        .begin = began_,
        .end = std::chrono::steady_clock::now(),
        .attributes = {{.name = "tenon.batch.items", .value = static_cast<std::int64_t>(items)}}};
    for (std::size_t i = 1; i < traces.size(); ++i) {
        EndedSpan own = shared;
        own.trace = child_of(traces[i], make_span_id(core.random()));
        own.links = {link_to(call.trace)};
        queue->put(std::move(own));
    }
    for (std::size_t i = 1; i < traces.size() && i <= links_max; ++i) {
        shared.links.push_back(link_to(traces[i]));
    }
    queue->put(std::move(shared));
}

}  // namespace tenon::runtime
