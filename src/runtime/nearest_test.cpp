#include "runtime/nearest.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <string>

namespace tenon::runtime {
namespace {

constexpr std::array<std::string_view, 4> known{"port", "addresses", "body_bytes_max", "url"};

TEST(Nearest, FindsTyposAndSwaps) {
    EXPECT_EQ(nearest_name("prot", known), "port");
    EXPECT_EQ(nearest_name("adresses", known), "addresses");
    EXPECT_EQ(nearest_name("body_byte_max", known), "body_bytes_max");
    EXPECT_EQ(nearest_name("uri", known), "url");
}

TEST(Nearest, SaysNothingWhenNothingIsNear) {
    EXPECT_EQ(nearest_name("timeout", known), std::nullopt);
    EXPECT_EQ(nearest_name("", known), std::nullopt);
    EXPECT_EQ(nearest_name(std::string(10'000, 'a'), known), std::nullopt);
    EXPECT_EQ(nearest_name("port", {}), std::nullopt);
}

TEST(Nearest, DistanceCountsEdits) {
    EXPECT_EQ(edit_distance("", "abc"), 3U);
    EXPECT_EQ(edit_distance("abc", "acb"), 1U);
    EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

RC_GTEST_PROP(Nearest, DistanceIsSymmetricAndBounded,
              (const std::string& a, const std::string& b)) {
    const std::size_t distance = edit_distance(a, b);
    RC_ASSERT(distance == edit_distance(b, a));
    RC_ASSERT(distance <= std::max(a.size(), b.size()));
    RC_ASSERT((distance == 0) == (a == b));
}

}  // namespace
}  // namespace tenon::runtime
