// What must not be a target: every domain of this server, and its own addresses.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>

namespace tenon::links {

/// The hosts and ports under which this server answers.
class OwnOrigins {
public:
    /// `authority` is a host, or host:port; a bare host stands for all its ports.
    void add(std::string_view authority);
    /// The port of this server on every address of this machine that loops back.
    void add_port(std::uint16_t port);
    /// True when a serialised target leads to this server.
    [[nodiscard]] bool leads_here(std::string_view serialised) const;

private:
    std::set<std::string, std::less<>> authorities_;
};

}  // namespace tenon::links
