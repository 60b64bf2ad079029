// Opaque, signed positions in a list.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace tenon::base {

/// The longest text of a cursor that is made or looked at.
inline constexpr std::size_t cursor_bytes_max = 2048;

/// Secret; the same on every process that serves a list.
using SealKey = std::array<std::uint8_t, 32>;

/// Seals the last row's sort values into a cursor and opens them again.
///
/// Shape:   version byte, values (each 2 bytes of big-endian length, then its bytes), HMAC-SHA256
///          truncated to 16 bytes over version, binding (4 bytes of length first) and values;
///          base64url without padding. At most 2 KiB. One text per key, binding and values.
/// Expects: values of 1,519 bytes together, each counted with 2 more: sort columns are bounded.
/// Errors:  base.invalid_cursor when it was made by another key, for another binding (project,
///          filter, order) or is damaged: always an error, never a wrong page.
/// Threads: any; immutable.
class CursorSealer {
public:
    explicit CursorSealer(const SealKey& key) : key_(key) {}
    /// `binding` names what the cursor belongs to: project, endpoint, filter and order.
    [[nodiscard]] std::string seal(std::string_view binding,
                                   const std::vector<std::string>& values) const;
    /// The values that `seal` was given, for the same key and binding only.
    [[nodiscard]] Result<std::vector<std::string>> open(std::string_view binding,
                                                        std::string_view cursor) const;

private:
    SealKey key_;
};

/// base64url without padding (RFC 4648 section 5).
[[nodiscard]] std::string encode_base64url(std::string_view bytes);
/// nullopt for padding, foreign characters, an impossible length or unused bits that are not zero.
[[nodiscard]] std::optional<std::string> decode_base64url(std::string_view text);

}  // namespace tenon::base
