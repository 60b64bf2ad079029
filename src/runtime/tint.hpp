// The colours of a terminal, for log lines and for what commands print.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tenon::runtime {

/// Which colour.
enum class Tint : std::uint8_t { red, yellow, green, faint };

/// `text` within the escapes that a terminal shows as that colour (ECMA-48, SGR).
[[nodiscard]] std::string tinted(Tint tint, std::string_view text);

}  // namespace tenon::runtime
