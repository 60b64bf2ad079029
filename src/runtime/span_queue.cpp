#include "runtime/span_queue.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <utility>

#include "base/assert.hpp"

namespace tenon::runtime {

namespace {

// Trace ids are even in their lower half, of which the upper 63 bits are compared.
constexpr std::uint64_t ids_total = std::uint64_t{1} << 63;

std::uint64_t bound_of(double ratio) {
    if (!(ratio > 0)) return 0;
    if (ratio >= 1) return ids_total;
    return static_cast<std::uint64_t>(ratio * static_cast<double>(ids_total));
}

}  // namespace

Counter spans_dropped(SpanLoss why) {
    constexpr std::array<const char*, 4> reasons{"queue_full", "refused", "unreachable",
                                                 "shutdown"};
    return metrics().counter({.name = "tenon_trace_spans_dropped_total",
                              .help = "Spans that never reached the collector, by reason.",
                              .labels = {{"reason", reasons[static_cast<std::size_t>(why)]}}});
}

SpanId make_span_id(base::Random& random) {
    SpanId id{};
    random.fill(id);
    id.back() |= 1;
    return id;
}

SpanQueue::SpanQueue(const SpanRules& rules)
    : waiting_max_(rules.waiting),
      sampled_below_(bound_of(rules.sample_ratio)),
      dropped_(spans_dropped(SpanLoss::queue_full)) {
    TENON_ASSERT(waiting_max_ > 0);
}

bool SpanQueue::samples(const TraceId& trace) const {
    std::uint64_t low = 0;
    for (std::size_t i = 8; i < trace.size(); ++i) low = (low << 8) | trace[i];
    return (low >> 1) < sampled_below_;
}

void SpanQueue::put(EndedSpan&& span) {
    {
        const std::lock_guard lock(guard_);
        if (spans_.size() < waiting_max_) {
            spans_.push_back(std::move(span));
            return;
        }
    }
    dropped_.add();
}

std::vector<EndedSpan> SpanQueue::take(std::size_t most) {
    const std::lock_guard lock(guard_);
    const auto count = static_cast<std::ptrdiff_t>(std::min(most, spans_.size()));
    const auto end = spans_.begin() + count;
    std::vector<EndedSpan> taken(std::make_move_iterator(spans_.begin()),
                                 std::make_move_iterator(end));
    spans_.erase(spans_.begin(), end);
    return taken;
}

}  // namespace tenon::runtime
