#include "storage/map.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"

namespace tenon::storage {

Map Map::of(std::vector<NodeSpec> nodes, std::vector<Place> places) {
    TENON_ASSERT(!nodes.empty() && !places.empty() && places.size() % base::slots_total == 0);
    TENON_ASSERT(std::ranges::all_of(
        places, [&](const Place& place) { return place.node.index < nodes.size(); }));
    Map map;
    map.nodes_ = std::move(nodes);
    map.places_ = std::move(places);
    return map;
}

Map Map::spread(std::vector<NodeSpec> nodes, std::uint32_t spaces_total) {
    TENON_ASSERT(!nodes.empty() && spaces_total > 0);
    const std::size_t buckets_total = std::size_t{spaces_total} * base::slots_total;
    std::vector<Place> places;
    places.reserve(buckets_total);
    for (std::size_t bucket = 0; bucket < buckets_total; ++bucket) {
        const auto node = static_cast<std::uint32_t>(bucket % nodes.size());
        places.push_back({.node = {node}, .epoch = 1});
    }
    return of(std::move(nodes), std::move(places));
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

bool names_same_nodes(const Map& left, const Map& right) {
    const auto name = [](const Map::NodeSpec& node) -> const std::string& { return node.name; };
    return std::ranges::equal(left.nodes(), right.nodes(), {}, name, name);
}

}  // namespace tenon::storage
