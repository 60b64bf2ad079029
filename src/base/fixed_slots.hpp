// Fixed slots: a key's slot never changes, a table says whose the slot is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/placement.hpp"
#include "base/result.hpp"
#include "base/slot.hpp"

namespace tenon::base {

/// The most slots that a table has.
inline constexpr std::uint32_t fixed_slots_max = 1 << 20;

/// Places a key on the owner of its slot, the key's XXH3-64 modulo the number of slots.
///
/// The table is state and is kept: a change begins from the table there is and moves the fewest
/// slots that give every node its share. What moves is known slot by slot, so a slot can be moved
/// as a whole.
///
/// Shape: every node has its share by weight, rounded down or up. The order of the nodes does not
///        matter.
/// Cost:  O(1) per key; a change is O(slots + nodes × log nodes).
class FixedSlots final : public Placement {
public:
    /// A first table: consecutive slots to each node, in the order of names.
    ///
    /// Errors: those of sort_nodes(); base.invalid_placement for no slots, more than
    ///         fixed_slots_max or fewer than nodes.
    [[nodiscard]] static Result<FixedSlots> make(std::vector<Node> nodes,
                                                 std::uint32_t slots = slots_total);
    /// The table that was kept: the owner of each slot.
    ///
    /// Errors: base.invalid_placement for no slots, more than fixed_slots_max or an empty name.
    [[nodiscard]] static Result<FixedSlots> restore(const std::vector<std::string>& owners);
    /// The table for these nodes that differs least from this one: nodes over their share give,
    /// their highest slots first, nodes that are gone give all.
    ///
    /// Errors: as make().
    [[nodiscard]] Result<FixedSlots> rebalanced(std::vector<Node> nodes) const;

    [[nodiscard]] std::string_view owner(std::string_view key) const override;
    /// The owner of a slot. Expects: slot < slots().
    [[nodiscard]] std::string_view owner_of(std::uint32_t slot) const;
    /// How many slots there are.
    [[nodiscard]] std::uint32_t slots() const { return static_cast<std::uint32_t>(table_.size()); }

private:
    FixedSlots(std::vector<std::string> names, std::vector<std::uint32_t> table)
        : names_(std::move(names)), table_(std::move(table)) {}

    std::vector<std::string> names_;    ///< sorted
    std::vector<std::uint32_t> table_;  ///< of each slot, the place of its owner in names_
};

}  // namespace tenon::base
