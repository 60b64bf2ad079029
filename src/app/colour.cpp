#include "app/colour.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "runtime/environment.hpp"

namespace tenon::app {

namespace {

// Written by main alone, before there is another thread.
ColourChoice chosen = ColourChoice::automatic;

std::string_view code_of(Tint tint) {
    switch (tint) {
        case Tint::red:
            return "\033[31m";
        case Tint::yellow:
            return "\033[33m";
        case Tint::green:
            return "\033[32m";
        case Tint::faint:
            return "\033[2m";
    }
    return "";
}

}  // namespace

bool decide_colour(ColourChoice choice, const ColourFacts& facts) {
    if (choice != ColourChoice::automatic) return choice == ColourChoice::always;
    return facts.in_terminal && facts.no_color.empty() && facts.term != "dumb";
}

void choose_colours(ColourChoice choice) {
    chosen = choice;
}

bool is_coloured(std::FILE* stream) {
    return decide_colour(chosen, {.in_terminal = isatty(fileno(stream)) == 1,
                                  .no_color = runtime::environment_value("NO_COLOR"),
                                  .term = runtime::environment_value("TERM")});
}

std::string paint(std::FILE* stream, Tint tint, std::string_view text) {
    if (!is_coloured(stream)) return std::string(text);
    return fmt::format("{}{}\033[0m", code_of(tint), text);
}

}  // namespace tenon::app
