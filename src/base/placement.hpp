// Which node owns a key: one interface for every scheme, and what a change of nodes moves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace tenon::base {

/// Something that keys are placed on.
struct Node {
    std::string name;          ///< not empty, unique within a placement
    std::uint32_t weight = 1;  ///< its share of the keys beside the others' weights, 1 .. 1,000,000
    auto operator<=>(const Node&) const = default;
};

/// The highest weight of a node.
inline constexpr std::uint32_t node_weight_max = 1'000'000;
/// The most nodes that a placement has.
inline constexpr std::size_t nodes_max = 10'000;

/// Says which node owns a key.
///
/// Immutable: other nodes make another placement, and who shares one keeps it in a
/// std::shared_ptr<const Placement> that is swapped whole, so no reader sees half a change. There
/// is none without nodes, so an owner always has a name. The same nodes and the same key have the
/// same owner in every process and every version.
///
/// Threads: any.
class Placement {
public:
    virtual ~Placement() = default;
    /// The owner's name, never empty; it lives as long as the placement.
    ///
    /// Expects: `key` in its canonical form, as slot_of() does (F88).
    [[nodiscard]] virtual std::string_view owner(std::string_view key) const = 0;

protected:
    Placement() = default;
    Placement(const Placement&) = default;
    Placement(Placement&&) = default;
    Placement& operator=(const Placement&) = default;
    Placement& operator=(Placement&&) = default;
};

/// A key that changes its owner; borrows from the keys and placements it was made of.
struct Move {
    std::string_view key;
    std::string_view from;
    std::string_view to;
    auto operator<=>(const Move&) const = default;
};

/// The keys whose owner differs, in the order given, for planning a change.
///
/// Cost: two owner() per key.
[[nodiscard]] std::vector<Move> moved(const Placement& before, const Placement& after,
                                      std::span<const std::string> keys);

/// What part of all keys goes from one node to another; borrows from the placements.
struct Flow {
    std::string_view from;
    std::string_view to;
    double share = 0;  ///< of all keys there can be, 0 .. 1
    auto operator<=>(const Flow&) const = default;
};

/// What a change moves, before there is a list of keys: every pair of nodes between which keys go.
///
/// Shape: measured with 65,536 fixed keys, so a share is right within ± 0.008; by names.
[[nodiscard]] std::vector<Flow> moved(const Placement& before, const Placement& after);

/// The nodes in the order of their names, when a placement can be made of them.
///
/// Errors: base.no_nodes when there is none. base.invalid_placement for an empty name, a name
///         given twice, a weight out of range or more than nodes_max nodes.
[[nodiscard]] Result<std::vector<Node>> sort_nodes(std::vector<Node> nodes);

/// A node's points and other numbers of its own: XXH3-64 of its name followed by `index` as 8
/// big-endian bytes.
[[nodiscard]] std::uint64_t point_of(std::string_view name, std::uint64_t index);

}  // namespace tenon::base
