// Which node owns which bucket, and under which epoch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/slot.hpp"

namespace tenon::storage {

/// A node's place in Map::nodes.
struct Node {
    std::uint32_t index = 0;
    auto operator<=>(const Node&) const = default;
};

/// The map of all spaces; immutable, replaced whole.
class Map {
public:
    struct NodeSpec {
        std::string name;
        std::string conninfo;
    };
    struct Place {
        Node node;
        std::int64_t epoch = 1;
    };
    /// The buckets' places, from bucket 0 on. Expects: whole spaces, on nodes that are there.
    static Map of(std::vector<NodeSpec> nodes, std::vector<Place> places);
    /// Every bucket of `spaces_total` spaces on the nodes in turn, epoch 1.
    static Map spread(std::vector<NodeSpec> nodes, std::uint32_t spaces_total = 1);

    /// Expects: the bucket's space is one of the map's.
    [[nodiscard]] Place place_of(base::Bucket bucket) const;
    [[nodiscard]] const std::vector<NodeSpec>& nodes() const { return nodes_; }
    [[nodiscard]] std::uint32_t spaces_total() const {
        return static_cast<std::uint32_t>(places_.size() / base::slots_total);
    }
    [[nodiscard]] std::vector<base::Bucket> buckets_of(Node node) const;

private:
    std::vector<NodeSpec> nodes_;
    std::vector<Place> places_;  ///< by bucket
};

/// True when both maps name the same nodes in the same order; addresses may differ.
[[nodiscard]] bool names_same_nodes(const Map& left, const Map& right);

}  // namespace tenon::storage
