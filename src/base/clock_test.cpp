#include "base/clock.hpp"

#include <gtest/gtest.h>

#include "base/assert.hpp"

namespace tenon::base {
namespace {

TEST(SystemClock, OffsetReplacesTheEarlierOne) {
    SystemClock clock;
    const Time before = clock.now();
    clock.set_offset(std::chrono::hours(48));
    EXPECT_GE(clock.now(), before + std::chrono::hours(47));
    clock.set_offset(std::chrono::hours(-48));
    EXPECT_LE(clock.now(), before);
}

TEST(ManualClock, StandsUntilMoved) {
    ManualClock clock{Time{std::chrono::seconds(5)}};
    EXPECT_EQ(clock.now(), Time{std::chrono::seconds(5)});
    clock.advance(std::chrono::seconds(-2));
    EXPECT_EQ(clock.now(), Time{std::chrono::seconds(3)});
    clock.set(Time{std::chrono::seconds(9)});
    EXPECT_EQ(clock.now(), Time{std::chrono::seconds(9)});
}

TEST(Assertion, EndsTheProcessAndNamesWhatDidNotHold) {
    EXPECT_DEATH(TENON_ASSERT(1 + 1 == 3), "bug: 1 \\+ 1 == 3 does not hold");
}

}  // namespace
}  // namespace tenon::base
