#include "storage/failure.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace tenon::storage {

namespace {

// Enough to look into; a whole space would fill the log.
constexpr std::size_t shown_max = 16;

std::string describe(const std::string& node, const std::vector<base::Bucket>& buckets) {
    std::vector<std::int32_t> shown;
    for (const base::Bucket bucket : buckets) {
        if (shown.size() == shown_max) {
            break;
        }
        shown.push_back(bucket.value);
    }
    return fmt::format("storage.moved: node {} does not own bucket {}{} under this map", node,
                       fmt::join(shown, ", "), buckets.size() > shown_max ? ", ..." : "");
}

}  // namespace

BucketsMoved::BucketsMoved(const std::string& node, std::vector<base::Bucket> buckets)
    : Unavailable(describe(node, buckets), std::chrono::seconds(1), runtime::Advice::split),
      buckets_(std::move(buckets)) {}

NotCovered::NotCovered(const Gaps& gaps)
    : Unavailable(fmt::format("storage.not_covered: the nodes do not serve each bucket once under "
                              "one map: {}",
                              describe_gaps(gaps)),
                  std::chrono::seconds(1)),
      gaps_(gaps) {}

std::vector<base::Bucket> read_refused_buckets(const std::string& detail) {
    std::vector<base::Bucket> buckets;
    const char* at = detail.data();
    const char* const end = at + detail.size();
    while (at < end) {
        base::Bucket bucket;
        const auto [next, error] = std::from_chars(at, end, bucket.value);
        if (error != std::errc()) {
            break;
        }
        buckets.push_back(bucket);
        at = next + (next < end ? 1 : 0);
    }
    return buckets;
}

}  // namespace tenon::storage
