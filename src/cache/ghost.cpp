#include "cache/ghost.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace tenon::cache {

Ghost::Ghost(std::size_t slots) : buckets_(std::bit_ceil(std::max(slots, ways)) / ways) {}

// The shard took the lowest bits of the hash and the tag the highest 32; these lie between.
std::size_t Ghost::bucket_of(std::uint64_t hash) const {
    return (hash >> 10) & (buckets_.size() - 1);
}

void Ghost::add(std::uint64_t hash) {
    if (added_ == std::numeric_limits<std::uint32_t>::max()) clear();
    ++added_;
    const auto tag = static_cast<std::uint32_t>(hash >> 32);
    Bucket& bucket = buckets_[bucket_of(hash)];
    auto place = std::ranges::find(bucket, tag, &Mark::tag);
    if (place == bucket.end()) place = std::ranges::min_element(bucket, {}, &Mark::added);
    *place = {.tag = tag, .added = added_};
}

bool Ghost::contains(std::uint64_t hash, std::size_t window) const {
    const auto tag = static_cast<std::uint32_t>(hash >> 32);
    for (const Mark& mark : buckets_[bucket_of(hash)]) {
        if (mark.tag == tag && mark.added != 0) return added_ - mark.added < window;
    }
    return false;
}

void Ghost::clear() {
    std::ranges::fill(buckets_, Bucket{});
    added_ = 0;
}

}  // namespace tenon::cache
