#include "base/backoff.hpp"

#include "base/assert.hpp"

namespace tenon::base {

std::chrono::milliseconds Backoff::next() {
    const auto first = options_.first.count();
    const auto longest = options_.longest.count();
    TENON_ASSERT(first > 0 && longest >= first);
    // Compared this way round, since first × 2^attempt could run over.
    const bool at_longest = first > (longest >> attempt_);
    const auto ceiling = at_longest ? longest : first << attempt_;
    if (!at_longest) ++attempt_;
    const std::uint64_t wait = random_.below(static_cast<std::uint64_t>(ceiling) + 1);
    return std::chrono::milliseconds(wait);
}

}  // namespace tenon::base
