#include "app/colour.hpp"

#include <gtest/gtest.h>

namespace tenon::app {
namespace {

constexpr ColourFacts terminal{.in_terminal = true, .no_color = "", .term = "xterm-256color"};
constexpr ColourFacts pipe{.in_terminal = false, .no_color = "", .term = "xterm-256color"};

TEST(DecideColour, OnlyATerminalGetsColoursUnasked) {
    EXPECT_TRUE(decide_colour(ColourChoice::automatic, terminal));
    EXPECT_FALSE(decide_colour(ColourChoice::automatic, pipe));
}

TEST(DecideColour, NoColorSetToAnythingButNothingForbidsThem) {
    auto facts = terminal;
    facts.no_color = "0";
    EXPECT_FALSE(decide_colour(ColourChoice::automatic, facts));
}

TEST(DecideColour, ADumbTerminalShowsNone) {
    auto facts = terminal;
    facts.term = "dumb";
    EXPECT_FALSE(decide_colour(ColourChoice::automatic, facts));
}

TEST(DecideColour, TheFlagWinsOverAllElse) {
    auto facts = pipe;
    facts.no_color = "1";
    EXPECT_TRUE(decide_colour(ColourChoice::always, facts));
    EXPECT_FALSE(decide_colour(ColourChoice::never, terminal));
}

TEST(Paint, WritesTheEscapesOnlyWhenColoured) {
    choose_colours(ColourChoice::always);
    EXPECT_EQ(paint(stdout, Tint::red, "no"), "\033[31mno\033[0m");
    choose_colours(ColourChoice::never);
    EXPECT_EQ(paint(stdout, Tint::red, "no"), "no");
    choose_colours(ColourChoice::automatic);
}

}  // namespace
}  // namespace tenon::app
