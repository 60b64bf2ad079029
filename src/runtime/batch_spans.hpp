// The spans of work that is done for several calls at once.
#pragma once

#include <chrono>
#include <string_view>
#include <vector>

#include "runtime/call.hpp"
#include "runtime/core.hpp"

namespace tenon::runtime {

/// Tells every trace that took part in a batch about it.
///
/// Shape:   the first sampled item gets a span that is the parent of all that the batch does, with
///          a link to every other item's span, at most 128; each other one gets a span in its own
///          trace for the same time, with a link to that. Neighbours of one call count once.
/// Threads: its core only.
/// Cost:    nothing where no item is sampled.
class BatchSpans {
public:
    /// One more sampled item.
    void take(const Trace& trace);
    /// `call` is the batch's own; from now on it belongs to the first item's trace.
    void begin(Call& call);
    void end(Core& core, const Call& call, std::string_view name, std::size_t items);

private:
    std::vector<Trace> traces_;
    std::chrono::steady_clock::time_point began_;
};

}  // namespace tenon::runtime
