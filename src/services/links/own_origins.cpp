#include "services/links/own_origins.hpp"

#include <fmt/format.h>

namespace tenon::links {
namespace {

/// What every loopback address is called in the set.
constexpr std::string_view loopback = "localhost";

std::string_view authority_of(std::string_view serialised) {
    const auto begin = serialised.find("://");
    if (begin == std::string_view::npos) return {};
    const auto rest = serialised.substr(begin + 3);
    return rest.substr(0, rest.find_first_of("/?#"));
}

/// "a.example." names the same host as "a.example".
std::string_view without_last_dot(std::string_view host) {
    if (host.ends_with('.')) host.remove_suffix(1);
    return host;
}

std::string_view without_port(std::string_view authority) {
    const auto colon = authority.rfind(':');
    const auto bracket = authority.rfind(']');
    const bool has_port =
        colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket);
    return has_port ? authority.substr(0, colon) : authority;
}

/// Hosts that a browser on this machine resolves to this machine; WHATWG has already written all
/// forms of an IPv4 address as four decimal numbers.
bool is_loopback(std::string_view host) {
    return host == "localhost" || host.ends_with(".localhost") || host.starts_with("127.") ||
           host == "0.0.0.0" || host == "[::1]" || host == "[::]" ||
           host.starts_with("[::ffff:7f") || host == "[::ffff:0:0]";
}

}  // namespace

void OwnOrigins::add(std::string_view authority) {
    authorities_.emplace(authority);
}

void OwnOrigins::add_port(std::uint16_t port) {
    authorities_.insert(fmt::format("{}:{}", loopback, port));
}

bool OwnOrigins::leads_here(std::string_view serialised) const {
    const auto authority = authority_of(serialised);
    const auto host = without_last_dot(without_port(authority));
    if (authorities_.contains(host)) return true;
    // The port with its colon, or the one that the scheme stands for.
    std::string_view port = authority.substr(without_port(authority).size());
    if (port.empty()) port = serialised.starts_with("https:") ? ":443" : ":80";
    const auto whole = [&](std::string_view name) { return std::string(name).append(port); };
    return authorities_.contains(whole(host)) ||
           (is_loopback(host) && authorities_.contains(whole(loopback)));
}

}  // namespace tenon::links
