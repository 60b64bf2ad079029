#include "storage/map.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace tenon::storage {
namespace {

TEST(Map, SpreadsEveryBucketOverTheNodesInTurn) {
    const auto map = Map::spread({{"a", ""}, {"b", ""}, {"c", ""}}, 2);
    EXPECT_EQ(map.spaces_total(), 2U);
    std::vector<int> owners(2048, 0);
    for (std::uint32_t node = 0; node < 3; ++node) {
        const auto buckets = map.buckets_of(Node{node});
        EXPECT_GE(buckets.size(), 682U);
        EXPECT_LE(buckets.size(), 683U);
        for (const base::Bucket bucket : buckets) {
            ++owners[static_cast<std::size_t>(bucket.value)];
            EXPECT_EQ(map.place_of(bucket).node, Node{node});
            EXPECT_EQ(map.place_of(bucket).epoch, 1);
        }
    }
    EXPECT_EQ(owners, std::vector<int>(2048, 1));
}

TEST(Map, NamesTheSameNodesOnlyInTheSameOrder) {
    const auto one = Map::spread({{"a", "host=x"}, {"b", "host=y"}});
    EXPECT_TRUE(names_same_nodes(one, Map::spread({{"a", "host=z"}, {"b", "host=y"}})));
    EXPECT_FALSE(names_same_nodes(one, Map::spread({{"b", "host=y"}, {"a", "host=x"}})));
    EXPECT_FALSE(names_same_nodes(one, Map::spread({{"a", "host=x"}, {"c", "host=y"}})));
    EXPECT_FALSE(names_same_nodes(one, Map::spread({{"a", "host=x"}})));
}

}  // namespace
}  // namespace tenon::storage
