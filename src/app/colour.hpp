// Whether what is printed may be coloured, and how.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "runtime/tint.hpp"

namespace tenon::app {

/// What --color asks for.
enum class ColourChoice : std::uint8_t { automatic, always, never };

/// What decides when --color does not.
struct ColourFacts {
    bool in_terminal = false;
    std::string_view no_color;  ///< the variable NO_COLOR
    std::string_view term;      ///< the variable TERM
};

/// True when colours are to be used; pure.
///
/// Shape:  the flag wins over the environment; without it only a terminal that can show colours and
///         whose user did not set NO_COLOR (to anything but the empty text) gets them.
/// Source: https://no-color.org
[[nodiscard]] bool decide_colour(ColourChoice choice, const ColourFacts& facts);

using runtime::Tint;

/// Sets what --color asked for. Once, by main, before anything is printed.
void choose_colours(ColourChoice choice);
/// True when what goes to `stream` (stdout or stderr) may be coloured.
[[nodiscard]] bool is_coloured(std::FILE* stream);
/// `text` in a colour if `stream` may be coloured, else as it is.
[[nodiscard]] std::string paint(std::FILE* stream, Tint tint, std::string_view text);

}  // namespace tenon::app
