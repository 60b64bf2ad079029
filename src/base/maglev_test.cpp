#include "base/maglev.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/errors.hpp"

namespace tenon::base {
namespace {

// Table 1 of the paper: three backends on seven entries, then without the second one.
TEST(Maglev, TheExampleOfThePaper) {
    const MaglevWish first{.offset = 3, .skip = 4};
    const MaglevWish second{.offset = 0, .skip = 2};
    const MaglevWish third{.offset = 3, .skip = 1};
    EXPECT_EQ(fill_maglev(std::vector{first, second, third}, 7),
              (std::vector<std::uint32_t>{1, 0, 1, 0, 2, 2, 0}));
    EXPECT_EQ(fill_maglev(std::vector{first, third}, 7),
              (std::vector<std::uint32_t>{0, 0, 0, 0, 1, 1, 1}));
}

RC_GTEST_PROP(Maglev, EveryNodeHasItsShareToAnEntryOrTwo, ()) {
    constexpr std::uint32_t size = 251;
    const auto weights = *rc::gen::nonEmpty(
        rc::gen::container<std::vector<std::uint32_t>>(rc::gen::inRange(1u, 6u)));
    RC_PRE(weights.size() <= 20u);
    std::vector<MaglevWish> wishes;
    wishes.reserve(weights.size());
    std::uint32_t total = 0;
    for (const std::uint32_t weight : weights) {
        wishes.push_back({.offset = *rc::gen::inRange<std::uint64_t>(0, size),
                          .skip = *rc::gen::inRange<std::uint64_t>(1, size),
                          .weight = weight});
        total += weight;
    }
    const auto table = fill_maglev(wishes, size);
    RC_ASSERT(table.size() == size);
    const double round = std::ranges::max(weights);
    for (std::uint32_t node = 0; node < weights.size(); ++node) {
        const auto entries = static_cast<double>(std::ranges::count(table, node));
        // The first round gives a turn to all, the last one may end before a node's turn.
        const double share = size * weights[node] / static_cast<double>(total);
        const double slack =
            2 + weights[node] * static_cast<double>(weights.size()) / total + weights[node] / round;
        RC_ASSERT(std::abs(entries - share) <= slack);
        RC_ASSERT(entries >= 1);
    }
}

TEST(Maglev, TheLightestNodeHasAnEntryToo) {
    const auto table =
        fill_maglev(std::vector<MaglevWish>{{.offset = 5, .skip = 3, .weight = node_weight_max},
                                            {.offset = 5, .skip = 3, .weight = 1}},
                    251);
    EXPECT_EQ(std::ranges::count(table, 1u), 1);
}

TEST(Maglev, ANodeThatGoesDisturbsFewOthers) {
    std::vector<Node> nodes;
    nodes.reserve(100);
    for (int i = 0; i < 100; ++i) nodes.push_back({.name = fmt::format("backend-{}", i)});
    const auto before = MaglevTable::make(nodes).value();
    nodes.erase(nodes.begin() + 40);
    const auto after = MaglevTable::make(nodes).value();
    int forced = 0;
    int others = 0;
    for (int i = 0; i < 100'000; ++i) {
        const std::string key = fmt::format("key:{}", i);
        if (before.owner(key) == after.owner(key)) continue;
        ++(before.owner(key) == "backend-40" ? forced : others);
    }
    EXPECT_NEAR(forced, 1'000, 150);
    EXPECT_LT(others, 2'500);
}

TEST(Maglev, RefusesASizeThatIsNotPrimeOrTooSmall) {
    const std::vector<Node> nodes{{.name = "a"}, {.name = "b"}, {.name = "c"}};
    for (const std::uint32_t size : {0u, 1u, 2u, 9u, 65'536u, 16'777'259u}) {
        const auto table = MaglevTable::make(nodes, {.size = size});
        ASSERT_FALSE(table) << size;
        EXPECT_TRUE(table.error().is(errors::invalid_placement));
    }
    EXPECT_TRUE(MaglevTable::make(nodes, {.size = 3}));
    EXPECT_EQ(MaglevTable::make({{.name = "a"}}, {.size = 2}).value().owner("x"), "a");
}

}  // namespace
}  // namespace tenon::base
