#include "app/colour.hpp"

#include <unistd.h>

#include "runtime/environment.hpp"

namespace tenon::app {

namespace {

// Written by main alone, before there is another thread.
ColourChoice chosen = ColourChoice::automatic;

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
    return runtime::tinted(tint, text);
}

}  // namespace tenon::app
