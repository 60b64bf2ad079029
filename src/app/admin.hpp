// What operators ask: is it alive, is it ready, what does it do, what does it offer.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "http/endpoint.hpp"

namespace tenon::app {

/// A part that must be up, or that only degrades.
struct Dependency {
    std::string name;
    bool is_up = false;
    bool is_needed = true;  ///< false: answers go on without it
    std::string why_down;
};

/// What the whole process may say of its parts, from what every core says of its own connections.
///
/// Shape:   a part is up when it is so on every core, and needed when one core needs it. Different
///          reasons are told one after the other; where only some cores miss the part, how many.
/// Expects: every core names the same parts in the same order.
[[nodiscard]] std::vector<Dependency> merge_dependencies(
    std::span<const std::vector<Dependency>> by_core);

/// What the admin endpoints ask of the instance.
struct AdminFacts {
    /// Of all cores, merged. A core that hangs leaves the request without an answer, which those
    /// who balance by /readyz take for what it is.
    std::function<boost::asio::awaitable<std::vector<Dependency>>()> dependencies;
    std::function<bool()> is_draining;
};

/// Declares /healthz, /readyz, /metrics, /openapi.json, /docs and the page at /.
///
/// Expects: `router` is filled by the services before it serves; facts outlive it.
void add_admin_routes(http::Router& router, const AdminFacts& facts);

}  // namespace tenon::app
