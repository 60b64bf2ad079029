#include "base/fixed_slots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "base/errors.hpp"
#include "base/hash.hpp"

namespace tenon::base {
namespace {

/// Stands for the owner of a slot that nobody owns.
constexpr std::uint32_t nobody = UINT32_MAX;

std::vector<std::uint32_t> count_slots(const std::vector<std::uint32_t>& table, std::size_t nodes) {
    std::vector<std::uint32_t> counts(nodes);
    for (const std::uint32_t owner : table) {
        if (owner != nobody) ++counts[owner];
    }
    return counts;
}

/// How many slots each node is to have: its share rounded down, and what is left over one each to
/// those that need not give one up for it, then to those whose share was cut most.
std::vector<std::uint32_t> targets_of(const std::vector<Node>& nodes,
                                      const std::vector<std::uint32_t>& table) {
    const std::vector<std::uint32_t> counts = count_slots(table, nodes.size());
    std::uint64_t weights = 0;
    for (const Node& node : nodes) weights += node.weight;
    struct Claim {
        bool moves;          ///< whether the slot would have to come from another node
        std::uint64_t lack;  ///< the lower, the more was cut from its share
        std::uint32_t node;
        auto operator<=>(const Claim&) const = default;
    };
    std::vector<Claim> claims;
    std::vector<std::uint32_t> targets;
    std::uint64_t left = table.size();
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
        const std::uint64_t share = table.size() * std::uint64_t{nodes[i].weight};
        targets.push_back(static_cast<std::uint32_t>(share / weights));
        left -= targets.back();
        const std::uint64_t cut = share % weights;
        // A whole share is nobody's to round up.
        if (cut > 0) claims.push_back({counts[i] <= targets.back(), weights - cut, i});
    }
    std::ranges::sort(claims);
    TENON_ASSERT(left <= claims.size());
    for (std::uint64_t i = 0; i < left; ++i) ++targets[claims[i].node];
    return targets;
}

/// Gives every node of `nodes` its share, moving as little of `table` as that takes.
std::vector<std::uint32_t> spread(std::vector<std::uint32_t> table,
                                  const std::vector<Node>& nodes) {
    std::vector<std::uint32_t> wanting = targets_of(nodes, table);
    for (std::uint32_t& owner : table) {
        if (owner == nobody) continue;
        if (wanting[owner] == 0) {
            owner = nobody;
        } else {
            --wanting[owner];
        }
    }
    std::uint32_t node = 0;
    for (std::uint32_t& owner : table) {
        if (owner != nobody) continue;
        while (wanting[node] == 0) ++node;
        owner = node;
        --wanting[node];
    }
    return table;
}

std::vector<std::string> names_of(std::vector<Node> nodes) {
    std::vector<std::string> names;
    names.reserve(nodes.size());
    for (Node& node : nodes) names.push_back(std::move(node.name));
    return names;
}

/// The place of a name among sorted nodes, or nobody's.
std::uint32_t place_of(const std::vector<Node>& nodes, std::string_view name) {
    const auto found = std::ranges::lower_bound(nodes, name, {}, &Node::name);
    if (found == nodes.end() || found->name != name) return nobody;
    return static_cast<std::uint32_t>(found - nodes.begin());
}

std::unexpected<Error> not_so_many(std::uint64_t slots) {
    return fail(
        errors::invalid_placement,
        fmt::format("There cannot be {} slots; 1 to {} are possible.", slots, fixed_slots_max));
}

}  // namespace

Result<FixedSlots> FixedSlots::make(std::vector<Node> nodes, std::uint32_t slots) {
    if (slots == 0 || slots > fixed_slots_max) return not_so_many(slots);
    return FixedSlots({}, std::vector<std::uint32_t>(slots, nobody)).rebalanced(std::move(nodes));
}

Result<FixedSlots> FixedSlots::restore(const std::vector<std::string>& owners) {
    if (owners.empty() || owners.size() > fixed_slots_max) return not_so_many(owners.size());
    std::vector<std::string> names = owners;
    std::ranges::sort(names);
    const auto rest = std::ranges::unique(names);
    names.erase(rest.begin(), rest.end());
    if (names.front().empty()) {
        return fail(errors::invalid_placement, "A slot has no owner; name one for every slot.");
    }
    std::vector<std::uint32_t> table;
    table.reserve(owners.size());
    for (const std::string& owner : owners) {
        const auto found = std::ranges::lower_bound(names, owner);
        table.push_back(static_cast<std::uint32_t>(found - names.begin()));
    }
    return FixedSlots(std::move(names), std::move(table));
}

Result<FixedSlots> FixedSlots::rebalanced(std::vector<Node> nodes) const {
    auto sorted = sort_nodes(std::move(nodes));
    if (!sorted) return fail(std::move(sorted).error());
    if (sorted->size() > table_.size()) {
        return fail(errors::invalid_placement,
                    fmt::format("{} nodes cannot share {} slots; take fewer nodes.", sorted->size(),
                                table_.size()));
    }
    std::vector<std::uint32_t> places;
    places.reserve(names_.size());
    for (const std::string& name : names_) places.push_back(place_of(*sorted, name));
    std::vector<std::uint32_t> table = table_;
    for (std::uint32_t& owner : table) owner = owner == nobody ? nobody : places[owner];
    table = spread(std::move(table), *sorted);
    return FixedSlots(names_of(*std::move(sorted)), std::move(table));
}

std::string_view FixedSlots::owner(std::string_view key) const {
    return owner_of(static_cast<std::uint32_t>(hash64(key) % table_.size()));
}

std::string_view FixedSlots::owner_of(std::uint32_t slot) const {
    TENON_ASSERT(slot < table_.size());
    return names_[table_[slot]];
}

}  // namespace tenon::base
