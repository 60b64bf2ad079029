#include "base/random.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

namespace tenon::base {
namespace {

TEST(SecureRandom, NeverRepeatsAcrossBlocks) {
    SecureRandom random;
    std::set<std::uint64_t> drawn;
    for (int i = 0; i < 5'000; ++i) drawn.insert(random.next());
    EXPECT_EQ(drawn.size(), 5'000u);
}

TEST(SecureRandom, FillsMoreThanOneBlock) {
    SecureRandom random;
    std::vector<std::uint8_t> bytes(20'000);
    random.fill(bytes);
    const std::set<std::uint8_t> values(bytes.begin(), bytes.end());
    EXPECT_EQ(values.size(), 256u);
}

RC_GTEST_PROP(SeededRandom, SameSeedSameBits, (std::uint64_t seed)) {
    SeededRandom first(seed);
    SeededRandom second(seed);
    std::array<std::uint8_t, 13> left{};
    std::array<std::uint8_t, 13> right{};
    first.fill(left);
    second.fill(right);
    RC_ASSERT(left == right);
    RC_ASSERT(first.next() == second.next());
}

RC_GTEST_PROP(Random, BelowStaysBelow, (std::uint64_t seed, std::uint64_t bound)) {
    RC_PRE(bound > 0u);
    SeededRandom random(seed);
    for (int i = 0; i < 20; ++i) RC_ASSERT(random.below(bound) < bound);
}

TEST(Random, BelowReachesEveryValue) {
    SeededRandom random(7);
    std::array<int, 10> seen{};
    for (int i = 0; i < 10'000; ++i) ++seen[random.below(10)];
    for (const int count : seen) EXPECT_NEAR(count, 1'000, 150);
}

}  // namespace
}  // namespace tenon::base
