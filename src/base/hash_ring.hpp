// Consistent hashing with virtual nodes.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/circle.hpp"
#include "base/placement.hpp"
#include "base/result.hpp"

namespace tenon::base {

/// How finely a ring is cut.
struct HashRingOptions {
    /// Points of a node per unit of weight, at least 1. More points even the shares out and cost
    /// memory; 100 to 200 keep each of ten equal nodes within 10 to 20 % of the mean.
    std::uint32_t points_per_weight = 160;
};

/// The most points that a ring has.
inline constexpr std::uint64_t ring_points_max = std::uint64_t{1} << 22;

/// A ring on which every node has points by its weight, and a key belongs to the next point.
///
/// A node that comes or goes moves only its own share, from and to all others alike. Nobody's
/// points depend on the other nodes. For caches and sticky routing.
///
/// Shape: the order of the nodes does not matter; equal points go to the smaller name. Point i of a
///        node is point_of(name, i), a key lies at its XXH3-64. This is data: caches are found by
///        it, and fixed vectors hold it.
/// Cost:  O(log points) per key, no allocation; 16 bytes per point.
class HashRing final : public Placement {
public:
    /// The ring of these nodes.
    ///
    /// Errors: those of sort_nodes(); base.invalid_placement for no point per weight or more than
    ///         ring_points_max points.
    [[nodiscard]] static Result<HashRing> make(std::vector<Node> nodes,
                                               HashRingOptions options = {});
    [[nodiscard]] std::string_view owner(std::string_view key) const override;

private:
    HashRing(std::vector<Node> nodes, Circle<std::uint64_t> circle)
        : nodes_(std::move(nodes)), circle_(std::move(circle)) {}

    std::vector<Node> nodes_;  ///< by name
    Circle<std::uint64_t> circle_;
};

}  // namespace tenon::base
