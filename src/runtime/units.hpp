// Durations and byte counts as people write them.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tenon::runtime {

/// "250ms", "5s", "24h": a whole number and one of ns, us, ms, s, m, h, d. "0" needs no unit.
///
/// Shape: nullopt for anything else, for a sign and for what does not fit 64 bits of nanoseconds.
[[nodiscard]] std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text);
/// The shortest text that parse_duration reads back. Expects: not negative.
[[nodiscard]] std::string format_duration(std::chrono::nanoseconds duration);

/// "65536", "512B", "64KiB", "1MiB", "2GiB", "1TiB": nullopt for anything else or over 64 bits.
[[nodiscard]] std::optional<std::uint64_t> parse_bytes(std::string_view text);
/// The shortest text that parse_bytes reads back.
[[nodiscard]] std::string format_bytes(std::uint64_t bytes);

}  // namespace tenon::runtime
