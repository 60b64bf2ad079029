#include "app/size.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace tenon::app {
namespace {

TEST(ParseCount, TakesSuffixes) {
    EXPECT_EQ(parse_count("100M"), 100'000'000);
    EXPECT_EQ(parse_count("1"), 1);
    EXPECT_EQ(parse_count("250k"), 250'000);
    EXPECT_EQ(parse_count("2G"), 2'000'000'000);
    EXPECT_EQ(parse_count("1T"), 1'000'000'000'000);
    EXPECT_EQ(parse_count("1.5m"), 1'500'000);
    EXPECT_EQ(parse_count("1.1M"), 1'100'000);
}

TEST(ParseCount, RefusesWhatIsNoCount) {
    for (const char* text : {"", "M", "0", "0k", "-5", "+5", "1.5", "1.0005k", "1e3", "100Mi",
                             "100 M", "1,000", "nan", "inf", "0x10", "1001T", "ten"}) {
        EXPECT_EQ(parse_count(text), std::nullopt) << text;
    }
}

double value_of(const std::vector<Figure>& figures, std::string_view name) {
    const auto found = std::ranges::find(figures, name, &Figure::name);
    if (found == figures.end()) ADD_FAILURE() << "no figure " << name;
    return found == figures.end() ? 0 : found->value;
}

TEST(SizeLinks, OfAHundredMillionAMonth) {
    const auto figures = size_links({.links_per_month = 100'000'000});
    EXPECT_NEAR(value_of(figures, "creates_per_second_average"), 38.58, 0.01);
    EXPECT_NEAR(value_of(figures, "creates_per_second_peak"), 385.8, 0.1);
    EXPECT_NEAR(value_of(figures, "redirects_per_second_average"), 3'858, 1);
    EXPECT_NEAR(value_of(figures, "redirects_per_second_peak"), 38'580, 1);
    EXPECT_DOUBLE_EQ(value_of(figures, "links_kept"), 1.2e9);
    EXPECT_DOUBLE_EQ(value_of(figures, "disk_bytes"), 600e9);
    EXPECT_DOUBLE_EQ(value_of(figures, "cache_bytes"), 3.6e9);
    EXPECT_EQ(value_of(figures, "postgres_nodes"), 1);
    EXPECT_EQ(value_of(figures, "server_cores"), 2);
}

TEST(SizeLinks, NodesComeFromWhicheverNeedsMore) {
    EXPECT_EQ(value_of(size_links({.links_per_month = 1, .creates_per_node = 1}), "postgres_nodes"),
              1);
    // 1.2 × 10^10 links a year × 500 bytes = 6 TB on nodes of 2 TB.
    EXPECT_EQ(value_of(size_links({.links_per_month = 1'000'000'000}), "postgres_nodes"), 3);
    // 3,858 creates a second on nodes of 500.
    const LinksLoad slow{.links_per_month = 1'000'000'000, .creates_per_node = 500};
    EXPECT_EQ(value_of(size_links(slow), "postgres_nodes"), 8);
}

TEST(SizeLinks, EveryFigureHasItsFormula) {
    for (const auto& figure : size_links({.links_per_month = 100'000'000})) {
        EXPECT_FALSE(figure.formula.empty()) << figure.name;
        EXPECT_GT(figure.value, 0) << figure.name;
    }
}

TEST(ShowFigure, AsPeopleReadIt) {
    const auto shown = [](double value, const char* unit) {
        return show_figure({.name = "", .value = value, .unit = unit, .formula = ""});
    };
    EXPECT_EQ(shown(600e9, "bytes"), "600 GB");
    EXPECT_EQ(shown(3.6e9, "bytes"), "3.60 GB");
    EXPECT_EQ(shown(999, "bytes"), "999 B");
    EXPECT_EQ(shown(38'580.2, "1/s"), "38,580 1/s");
    EXPECT_EQ(shown(38.58, "1/s"), "38.6 1/s");
    EXPECT_EQ(shown(1'200'000'000, ""), "1,200,000,000");
    EXPECT_EQ(shown(1'000, ""), "1,000");
    EXPECT_EQ(shown(0.034, "%"), "0.03 %");
}

}  // namespace
}  // namespace tenon::app
