#include "redis/address.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "redis/errors.hpp"

namespace tenon::redis {
namespace {

constexpr std::string_view unix_prefix = "unix:";
// sun_path holds 108 bytes with its final NUL.
constexpr std::size_t path_bytes_max = 107;

std::optional<std::uint16_t> parse_port(std::string_view text) {
    std::uint16_t port = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
    if (error != std::errc{} || end != text.data() + text.size() || port == 0) return std::nullopt;
    return port;
}

std::optional<Address> parse_path(std::string_view path) {
    const bool whole = path.starts_with('/') && path.size() <= path_bytes_max;
    if (!whole || path.find('\0') != std::string_view::npos) return std::nullopt;
    return Address{.path = std::string(path), .host = {}, .port = 0};
}

std::optional<Address> parse_host(std::string_view text) {
    const auto colon = text.rfind(':');
    if (colon == std::string_view::npos) return std::nullopt;
    std::string_view host = text.substr(0, colon);
    if (host.starts_with('[') && host.ends_with(']')) {
        host = host.substr(1, host.size() - 2);
    } else if (host.find(':') != std::string_view::npos) {
        return std::nullopt;
    }
    const auto port = parse_port(text.substr(colon + 1));
    if (host.empty() || host.find('\0') != std::string_view::npos || !port) return std::nullopt;
    return Address{.path = {}, .host = std::string(host), .port = *port};
}

}  // namespace

base::Result<Address> parse_address(std::string_view text) {
    auto address = text.starts_with(unix_prefix) ? parse_path(text.substr(unix_prefix.size()))
                                                 : parse_host(text);
    if (address) return std::move(*address);
    return base::fail(
        errors::invalid_address,
        fmt::format("\"{}\" is not unix:/path (of at most {} bytes), host:port or [address]:port",
                    text, path_bytes_max));
}

}  // namespace tenon::redis
