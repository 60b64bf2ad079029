#include "base/backoff.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tenon::base {
namespace {

using std::chrono::milliseconds;

RC_GTEST_PROP(Backoff, StaysBelowADoublingCeiling, (std::uint64_t seed)) {
    const auto first = *rc::gen::inRange<std::int64_t>(1, 10'000);
    const auto longest = *rc::gen::inRange<std::int64_t>(first, 10'000'000);
    SeededRandom random(seed);
    Backoff backoff({milliseconds(first), milliseconds(longest)}, random);
    std::int64_t ceiling = first;
    for (int i = 0; i < 100; ++i) {
        const milliseconds wait = backoff.next();
        RC_ASSERT(wait >= milliseconds(0));
        RC_ASSERT(wait <= milliseconds(ceiling));
        ceiling = std::min(ceiling * 2, longest);
    }
    backoff.reset();
    RC_ASSERT(backoff.next() <= milliseconds(first));
}

TEST(Backoff, UsesTheWholeRange) {
    SeededRandom random(11);
    Backoff backoff({milliseconds(100), milliseconds(100)}, random);
    milliseconds least{100};
    milliseconds most{0};
    for (int i = 0; i < 10'000; ++i) {
        const milliseconds wait = backoff.next();
        least = std::min(least, wait);
        most = std::max(most, wait);
    }
    EXPECT_EQ(least, milliseconds(0));
    EXPECT_EQ(most, milliseconds(100));
}

TEST(Backoff, NeverRunsOver) {
    SeededRandom random(11);
    const milliseconds longest = milliseconds::max();
    Backoff backoff({milliseconds(3), longest}, random);
    for (int i = 0; i < 200; ++i) EXPECT_GE(backoff.next(), milliseconds(0));
}

}  // namespace
}  // namespace tenon::base
