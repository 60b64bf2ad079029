#include "base/hash_ring.hpp"

#include <fmt/format.h>

#include "base/errors.hpp"
#include "base/hash.hpp"

namespace tenon::base {

Result<HashRing> HashRing::make(std::vector<Node> nodes, HashRingOptions options) {
    auto sorted = sort_nodes(std::move(nodes));
    if (!sorted) return fail(std::move(sorted).error());
    std::uint64_t points = 0;
    for (const Node& node : *sorted) points += std::uint64_t{node.weight};
    // At most 10^10 weight, so the product fits.
    points *= options.points_per_weight;
    if (points == 0 || points > ring_points_max) {
        return fail(errors::invalid_placement,
                    fmt::format("The ring would have {} points; 1 to {} are possible. Divide the "
                                "weights by a common factor or take fewer points per weight.",
                                points, ring_points_max));
    }
    std::vector<Circle<std::uint64_t>::Place> places;
    places.reserve(points);
    for (std::uint32_t i = 0; i < sorted->size(); ++i) {
        const Node& node = (*sorted)[i];
        const std::uint64_t own = std::uint64_t{node.weight} * options.points_per_weight;
        for (std::uint64_t k = 0; k < own; ++k) {
            places.push_back({.point = point_of(node.name, k), .node = i});
        }
    }
    return HashRing(*std::move(sorted), Circle<std::uint64_t>(std::move(places)));
}

std::string_view HashRing::owner(std::string_view key) const {
    return nodes_[circle_.find(hash64(key)).node].name;
}

}  // namespace tenon::base
