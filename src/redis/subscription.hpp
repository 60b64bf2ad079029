// What a subscribed connection says, without I/O.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "redis/reply.hpp"

namespace tenon::redis {

/// One thing that a subscribed connection delivers.
struct Notice {
    enum class Kind { confirmed, message, pong, unknown };
    Kind kind = Kind::unknown;
    std::string channel;
    std::string payload;
};

/// Reads a reply in the form that a RESP2 connection has after SUBSCRIBE.
[[nodiscard]] Notice read_notice(Reply reply);

}  // namespace tenon::redis
