// What the server answers, RESP2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tenon::redis {

/// One reply, RESP2.
struct Reply {
    enum class Type : std::uint8_t { nil, status, integer, text, array, error };
    Type type = Type::nil;
    std::int64_t integer = 0;
    std::string text;          ///< status, text or error message
    std::vector<Reply> items;  ///< array

    bool operator==(const Reply&) const = default;
};

/// What a single reply may take up; more breaks the connection.
struct ReplyLimits {
    /// Texts plus sizeof(Reply) for every item, in bytes. Depth is bounded by hiredis (7 arrays).
    std::size_t bytes_max = 32 << 20;
};

}  // namespace tenon::redis
