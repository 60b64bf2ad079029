#include "base/jump.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tenon::base {
namespace {

struct Vector {
    std::uint64_t hash;
    std::uint32_t buckets;
    std::uint32_t bucket;
};

// In the tests of ClickHouse, dgryski/go-jump, python-jump-consistent-hash and jumper.
TEST(Jump, PublishedVectors) {
    for (const auto& [hash, buckets, bucket] : std::vector<Vector>{
             {1, 1, 0},
             {0xDEAD10CC, 1, 0},
             {0, 2, 0},
             {4, 2, 1},
             {42, 57, 43},
             {0xDEAD10CC, 666, 361},
             {256, 1'024, 520},
             {1, 128, 55},
             {129, 128, 120},
             {UINT64_MAX, 128, 92},
             {16'045'690'984'833'335'023u, 255, 237},
             {10'863'919'174'838'991u, 11, 6},
             {2'016'238'256'797'177'309u, 11, 3},
             {128, 100'000'000, 38'172'097},
             {128, 2'147'483'648u, 1'644'467'860},
         }) {
        EXPECT_EQ(jump_bucket(hash, buckets), bucket) << hash << " of " << buckets;
    }
}

RC_GTEST_PROP(Jump, OneMoreBucketOnlyTakes, (std::uint64_t hash)) {
    for (std::uint32_t buckets = 1; buckets < 200; ++buckets) {
        const std::uint32_t before = jump_bucket(hash, buckets);
        const std::uint32_t after = jump_bucket(hash, buckets + 1);
        RC_ASSERT(before < buckets);
        RC_ASSERT(after == before || after == buckets);
    }
}

TEST(Jump, FollowsTheOrderOfTheNodes) {
    const auto one = JumpPlacement::make({{.name = "a"}, {.name = "b"}}).value();
    const auto other = JumpPlacement::make({{.name = "b"}, {.name = "a"}}).value();
    for (const std::string_view key : {"x", "y", "z"}) EXPECT_NE(one.owner(key), other.owner(key));
}

}  // namespace
}  // namespace tenon::base
