// Where a node listens.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace tenon::redis {

/// A Unix socket's path, or a host and port.
struct Address {
    std::string path;  ///< empty: TCP
    std::string host;
    std::uint16_t port = 0;
    bool operator==(const Address&) const = default;
};

/// Reads "unix:/path", "host:port" or "[v6 address]:port".
///
/// Errors: redis.invalid_address, which says what is accepted.
[[nodiscard]] base::Result<Address> parse_address(std::string_view text);

}  // namespace tenon::redis
