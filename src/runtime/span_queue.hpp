// Ended spans on their way from the core that made them to the exporter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "base/random.hpp"
#include "runtime/metrics.hpp"
#include "runtime/span.hpp"

namespace tenon::runtime {

/// Which spans are kept, and how many.
struct SpanRules {
    double sample_ratio = 0;      ///< of the traces that begin here, 0 .. 1
    std::size_t waiting = 8'192;  ///< spans of one core that may wait for the exporter, > 0
};

/// Why a span never reached the collector.
enum class SpanLoss : std::uint8_t { queue_full, refused, unreachable, shutdown };

/// The counter of spans that were lost for one reason.
[[nodiscard]] Counter spans_dropped(SpanLoss why);

/// The id of a new span: never all zero, which W3C trace context calls invalid.
[[nodiscard]] SpanId make_span_id(base::Random& random);

/// A bounded queue of ended spans: what does not fit is dropped and counted.
///
/// Threads: all; the lock is held for one move.
class SpanQueue {
public:
    explicit SpanQueue(const SpanRules& rules);

    /// True for the traces that are to be recorded among those that begin here: the same ones in
    /// every process with the same ratio.
    ///
    /// Cost: one comparison.
    [[nodiscard]] bool samples(const TraceId& trace) const;
    void put(EndedSpan&& span);
    /// The oldest spans, at most `most`.
    [[nodiscard]] std::vector<EndedSpan> take(std::size_t most);

private:
    const std::size_t waiting_max_;
    const std::uint64_t sampled_below_;
    const Counter dropped_;
    std::mutex guard_;
    std::deque<EndedSpan> spans_;
};

}  // namespace tenon::runtime
