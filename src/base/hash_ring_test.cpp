#include "base/hash_ring.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

#include "base/errors.hpp"

namespace tenon::base {
namespace {

/// The busiest node's part of 200,000 keys over the mean, on ten nodes.
double busiest(std::uint32_t points) {
    std::vector<Node> nodes;
    nodes.reserve(10);
    for (int i = 0; i < 10; ++i) nodes.push_back({.name = fmt::format("cache-{:02}", i)});
    const auto ring = HashRing::make(nodes, {.points_per_weight = points}).value();
    std::map<std::string_view, int> keys;
    for (int i = 0; i < 200'000; ++i) ++keys[ring.owner(fmt::format("key:{}", i))];
    int most = 0;
    for (const auto& [node, count] : keys) most = std::max(most, count);
    return most / 20'000.0;
}

TEST(HashRing, OnePointPerNodeIsUnfairAndManyAreFair) {
    EXPECT_GT(busiest(1), 2);
    EXPECT_LT(busiest(100), 1.2);
    EXPECT_LT(busiest(160), 1.2);
    EXPECT_LT(busiest(200), 1.2);
}

TEST(HashRing, RefusesNoPointsAndTooMany) {
    const std::vector<Node> nodes{{.name = "a", .weight = node_weight_max}, {.name = "b"}};
    for (const std::uint32_t points : {0u, 5u, UINT32_MAX}) {
        const auto ring = HashRing::make(nodes, {.points_per_weight = points});
        ASSERT_FALSE(ring);
        EXPECT_TRUE(ring.error().is(errors::invalid_placement));
    }
}

TEST(Circle, APointOwnsUpToItselfAndTheFirstBeyondTheLast) {
    const Circle<std::uint8_t> circle({{.point = 200, .node = 2}, {.point = 10, .node = 1}});
    EXPECT_EQ(circle.find(0).node, 1u);
    EXPECT_EQ(circle.find(10).node, 1u);
    EXPECT_EQ(circle.find(11).node, 2u);
    EXPECT_EQ(circle.find(200).node, 2u);
    EXPECT_EQ(circle.find(201).node, 1u);
    EXPECT_EQ(circle.find(255).node, 1u);
}

TEST(Circle, OfEqualPointsTheLowestNodeStays) {
    using Place = Circle<std::uint8_t>::Place;
    const Place high{.point = 50, .node = 7};
    const Place low{.point = 50, .node = 3};
    EXPECT_EQ(Circle<std::uint8_t>({high, low}).find(50).node, 3u);
    EXPECT_EQ(Circle<std::uint8_t>({low, high, low}).find(60).node, 3u);
}

// Looks at every point for the nearest at or after the value, going round.
RC_GTEST_PROP(Circle, FindsWhatALookAtEveryPointFinds,
              (const std::vector<std::pair<std::uint8_t, std::uint8_t>>& drawn)) {
    RC_PRE(!drawn.empty());
    std::vector<Circle<std::uint8_t>::Place> places;
    places.reserve(drawn.size());
    for (const auto& [point, node] : drawn) places.push_back({.point = point, .node = node});
    const Circle<std::uint8_t> circle(places);
    for (int value = 0; value < 256; ++value) {
        const auto distance = [&](const auto& place) { return (place.point - value + 256) % 256; };
        auto best = places.front();
        for (const auto& place : places) {
            if (std::pair(distance(place), place.node) < std::pair(distance(best), best.node)) {
                best = place;
            }
        }
        RC_ASSERT(circle.find(static_cast<std::uint8_t>(value)) == best);
    }
}

}  // namespace
}  // namespace tenon::base
