#include "base/fixed_slots.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <map>

#include "base/errors.hpp"
#include "base/hash.hpp"

namespace tenon::base {
namespace {

std::map<std::string, std::uint32_t> count(const FixedSlots& table) {
    std::map<std::string, std::uint32_t> counts;
    for (std::uint32_t slot = 0; slot < table.slots(); ++slot) {
        ++counts[std::string(table.owner_of(slot))];
    }
    return counts;
}

std::uint32_t moved_slots(const FixedSlots& before, const FixedSlots& after) {
    std::uint32_t moves = 0;
    for (std::uint32_t slot = 0; slot < before.slots(); ++slot) {
        if (before.owner_of(slot) != after.owner_of(slot)) ++moves;
    }
    return moves;
}

TEST(FixedSlots, AFifthNodeMovesAFifthAndOnlyToItself) {
    const auto four =
        FixedSlots::make({{.name = "a"}, {.name = "b"}, {.name = "c"}, {.name = "d"}}).value();
    const auto five =
        four.rebalanced({{.name = "a"}, {.name = "b"}, {.name = "c"}, {.name = "d"}, {.name = "e"}})
            .value();
    EXPECT_NEAR(moved_slots(four, five), 205, 1);
    EXPECT_EQ(count(five)["e"], moved_slots(four, five));
    for (const auto& [node, slots] : count(five)) EXPECT_NEAR(slots, 204.8, 1) << node;
}

TEST(FixedSlots, ADeadNodesSlotsSpreadOverAllOthers) {
    const auto five =
        FixedSlots::make(
            {{.name = "a"}, {.name = "b"}, {.name = "c"}, {.name = "d"}, {.name = "e"}})
            .value();
    const auto four =
        five.rebalanced({{.name = "a"}, {.name = "b"}, {.name = "d"}, {.name = "e"}}).value();
    std::map<std::string_view, int> heirs;
    for (std::uint32_t slot = 0; slot < five.slots(); ++slot) {
        if (five.owner_of(slot) == four.owner_of(slot)) continue;
        EXPECT_EQ(five.owner_of(slot), "c");
        ++heirs[four.owner_of(slot)];
    }
    ASSERT_EQ(heirs.size(), 4u);
    for (const auto& [heir, slots] : heirs) EXPECT_NEAR(slots, 51, 1) << heir;
}

TEST(FixedSlots, AKeyLiesInItsSlot) {
    const auto table = FixedSlots::make({{.name = "a"}, {.name = "b"}, {.name = "c"}}, 7).value();
    for (const std::string_view key : {"", "x", "y", "a longer key"}) {
        EXPECT_EQ(table.owner(key), table.owner_of(hash64(key) % 7));
    }
}

TEST(FixedSlots, IsRestoredFromWhatWasKept) {
    const auto table = FixedSlots::restore({"b", "a", "b", "c"}).value();
    EXPECT_EQ(table.slots(), 4u);
    EXPECT_EQ(table.owner_of(0), "b");
    EXPECT_EQ(table.owner_of(3), "c");
    const auto after = table.rebalanced({{.name = "a"}, {.name = "b"}}).value();
    EXPECT_EQ(moved_slots(table, after), 1u);
    EXPECT_EQ(after.owner_of(3), "a");
}

TEST(FixedSlots, RefusesNoSlotsAndMoreNodesThanSlots) {
    const std::vector<Node> nodes{{.name = "a"}, {.name = "b"}};
    for (const std::uint32_t slots : {0u, 1u, fixed_slots_max + 1}) {
        const auto table = FixedSlots::make(nodes, slots);
        ASSERT_FALSE(table) << slots;
        EXPECT_TRUE(table.error().is(errors::invalid_placement));
    }
    EXPECT_FALSE(FixedSlots::restore({}));
    EXPECT_FALSE(FixedSlots::restore({"a", ""}));
    EXPECT_TRUE(FixedSlots::make(nodes, 2).value().rebalanced({}).error().is(errors::no_nodes));
}

/// Nodes named by letters, some of ten.
std::vector<Node> draw_nodes() {
    std::vector<Node> nodes;
    for (char name = 'a'; name <= 'j'; ++name) {
        if (*rc::gen::inRange(0, 3) == 0) continue;
        nodes.push_back({.name = std::string(1, name), .weight = *rc::gen::inRange(1u, 5u)});
    }
    if (nodes.empty()) nodes.push_back({.name = "z"});
    return nodes;
}

// What every node keeps at most: what it has, up to its share rounded down, and one more for as
// many as the shares leave over.
std::uint32_t fewest_moves(const FixedSlots& before, const std::vector<Node>& nodes) {
    auto counts = count(before);
    std::uint32_t weights = 0;
    for (const Node& node : nodes) weights += node.weight;
    std::uint32_t kept = 0;
    std::uint32_t left = before.slots();
    std::uint32_t takers = 0;
    for (const Node& node : nodes) {
        const std::uint32_t share = before.slots() * node.weight / weights;
        kept += std::min(counts[node.name], share);
        left -= share;
        const bool rounded = before.slots() * node.weight % weights != 0;
        if (rounded && counts[node.name] > share) ++takers;
    }
    return before.slots() - kept - std::min(left, takers);
}

RC_GTEST_PROP(FixedSlots, MovesTheFewestThatGiveEveryNodeItsShare, ()) {
    const auto slots = *rc::gen::inRange(10u, 300u);
    auto table = FixedSlots::make(draw_nodes(), slots).value();
    for (int change = 0; change < 5; ++change) {
        const std::vector<Node> nodes = draw_nodes();
        const auto next = table.rebalanced(nodes).value();
        RC_ASSERT(moved_slots(table, next) == fewest_moves(table, nodes));
        double weights = 0;
        for (const Node& node : nodes) weights += node.weight;
        auto counts = count(next);
        for (const Node& node : nodes) {
            RC_ASSERT(std::abs(counts[node.name] - slots * node.weight / weights) < 1);
        }
        std::vector<Node> mixed(nodes.rbegin(), nodes.rend());
        RC_ASSERT(moved_slots(next, table.rebalanced(mixed).value()) == 0u);
        table = next;
    }
}

}  // namespace
}  // namespace tenon::base
