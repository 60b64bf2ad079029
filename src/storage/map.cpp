#include "storage/map.hpp"

#include <utility>

#include "base/assert.hpp"

namespace tenon::storage {

Map Map::spread(std::vector<NodeSpec> nodes, std::uint32_t spaces_total) {
    TENON_ASSERT(!nodes.empty() && spaces_total > 0);
    Map map;
    map.nodes_ = std::move(nodes);
    const std::size_t buckets_total = std::size_t{spaces_total} * base::slots_total;
    map.places_.reserve(buckets_total);
    for (std::size_t bucket = 0; bucket < buckets_total; ++bucket) {
        const auto node = static_cast<std::uint32_t>(bucket % map.nodes_.size());
        map.places_.push_back({.node = {node}, .epoch = 1});
    }
    return map;
}

Map::Place Map::place_of(base::Bucket bucket) const {
    TENON_ASSERT(bucket.value >= 0 && static_cast<std::size_t>(bucket.value) < places_.size());
    return places_[static_cast<std::size_t>(bucket.value)];
}

std::vector<base::Bucket> Map::buckets_of(Node node) const {
    std::vector<base::Bucket> buckets;
    for (std::size_t bucket = 0; bucket < places_.size(); ++bucket) {
        if (places_[bucket].node == node) {
            buckets.push_back({static_cast<std::int32_t>(bucket)});
        }
    }
    return buckets;
}

}  // namespace tenon::storage
