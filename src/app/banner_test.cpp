#include "app/banner.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace tenon::app {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::chrono_literals;

BannerFacts facts() {
    return {.state = {.pid = 1,
                      .url = "http://127.0.0.1:8080",
                      .key = "tnk_x",
                      .project = "demo",
                      .data = "/srv/shop/.tenon",
                      .postgres = "",
                      .nodes = "",
                      .redis = ""},
            .engines = "/srv/shop/.tenon",
            .took = 2'340ms,
            .in_background = false};
}

TEST(Banner, HasAllThatOneNeedsInTwelveLines) {
    const auto text = banner(facts());
    EXPECT_LE(std::ranges::count(text, '\n'), 12);
    for (const char* needed : {"after 2.3 s", "http://127.0.0.1:8080/docs", "tnk_x", "Ctrl-C",
                               "kept until you delete it", "rm -r /srv/shop/.tenon", "curl "}) {
        EXPECT_THAT(text, HasSubstr(needed));
    }
    EXPECT_THAT(text, Not(HasSubstr("engines:")));
}

TEST(Banner, SaysWhereTheEnginesLieWhenElsewhere) {
    auto apart = facts();
    apart.engines = "/var/lib/tenon/dev-1";
    EXPECT_THAT(banner(apart), HasSubstr("(engines: /var/lib/tenon/dev-1)"));
}

TEST(Banner, OfTheBackgroundIsStoppedByACommand) {
    auto behind = facts();
    behind.in_background = true;
    EXPECT_THAT(banner(behind), HasSubstr("stop  tenon stop --data /srv/shop/.tenon"));
    EXPECT_THAT(banner(behind), Not(HasSubstr("Ctrl-C")));
}

}  // namespace
}  // namespace tenon::app
