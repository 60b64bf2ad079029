#include "base/ketama.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/hash.hpp"

namespace tenon::base {
namespace {

/// The servers of libketama's own test.
std::vector<Node> servers() {
    return {{.name = "10.0.1.1:11211", .weight = 600},  {.name = "10.0.1.2:11211", .weight = 300},
            {.name = "10.0.1.3:11211", .weight = 200},  {.name = "10.0.1.4:11211", .weight = 350},
            {.name = "10.0.1.5:11211", .weight = 1000}, {.name = "10.0.1.6:11211", .weight = 800},
            {.name = "10.0.1.7:11211", .weight = 950},  {.name = "10.0.1.8:11211", .weight = 100}};
}

/// What libketama's test prints for the keys 0, 1, 2 ...: hash, point and server.
std::string printed(const KetamaRing& ring, int keys) {
    std::string text = "\n";
    for (int i = 0; i < keys; ++i) {
        const std::string key = std::to_string(i);
        text += fmt::format("{} {} {}\n", ketama_hash(key), ring.point(key), ring.owner(key));
    }
    return text;
}

TEST(Ketama, FirstLinesOfLibketama) {
    const auto ring = KetamaRing::make(servers()).value();
    EXPECT_EQ(printed(ring, 5),
              "\n"
              "2216742351 2217271743 10.0.1.1:11211\n"
              "943901380 949045552 10.0.1.5:11211\n"
              "2373066440 2374693370 10.0.1.6:11211\n"
              "2127088620 2130338203 10.0.1.6:11211\n"
              "2046197672 2051996197 10.0.1.7:11211\n");
}

// libketama's test.sh compares the MD5 of a million lines; MediaWiki that of the first thousand.
TEST(Ketama, DigestsOfTheLinesOfLibketama) {
    const auto ring = KetamaRing::make(servers()).value();
    EXPECT_EQ(to_hex(md5(printed(ring, 1'000))), "d1a4912a80e4654ec2e4e462c8b911c6");
    EXPECT_EQ(to_hex(md5(printed(ring, 1'000'000))), "5672b131391f5aa2b280936aec1eea74");
}

// "cache-590-..." and "cache-712-..." have the point 1296976496 in common, and "key-1185" lies on
// the arc before it.
TEST(Ketama, EqualPointsGoToTheSmallerName) {
    const auto one = KetamaRing::make({{.name = "cache-590"}, {.name = "cache-712"}}).value();
    const auto other = KetamaRing::make({{.name = "cache-712"}, {.name = "cache-590"}}).value();
    EXPECT_EQ(one.point("key-1185"), 1'296'976'496u);
    EXPECT_EQ(one.owner("key-1185"), "cache-590");
    EXPECT_EQ(other.owner("key-1185"), "cache-590");
    const auto alone = KetamaRing::make({{.name = "cache-712"}}).value();
    EXPECT_EQ(alone.point("key-1185"), 1'296'976'496u);
}

TEST(Ketama, ANodeFarBelowTheMeanOwnsNothing) {
    const auto ring = KetamaRing::make({{.name = "a", .weight = 1000}, {.name = "b"}}).value();
    for (int i = 0; i < 10'000; ++i) EXPECT_EQ(ring.owner(std::to_string(i)), "a");
}

}  // namespace
}  // namespace tenon::base
