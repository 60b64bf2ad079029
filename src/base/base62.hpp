// Numbers and identifiers as digits 0-9A-Za-z.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/uuid.hpp"

namespace tenon::base {

/// The digits, in ascending ASCII order, so that equal-width texts sort as their numbers.
inline constexpr std::string_view base62_digits =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Exactly `width` digits. Expects: value < 62^width, 1 <= width <= 10.
[[nodiscard]] std::string encode_base62(std::uint64_t value, int width);
/// As few digits as possible, at least one.
[[nodiscard]] std::string encode_base62(std::uint64_t value);
/// nullopt for an empty text, a foreign character or a value over 64 bits.
[[nodiscard]] std::optional<std::uint64_t> decode_base62(std::string_view text);

/// A public id: `prefix_` and 22 base62 digits, such as acc_0Qm5... Prefixes are 3 lower-case
/// letters.
[[nodiscard]] std::string format_id(std::string_view prefix, const Uuid& id);
/// Errors: base.invalid_id, which names the prefix that was expected.
[[nodiscard]] Result<Uuid> parse_id(std::string_view prefix, std::string_view text);

}  // namespace tenon::base
