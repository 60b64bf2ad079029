// What operators ask: is it alive, is it ready, what does it do, what does it offer.
#pragma once

#include <functional>
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

/// What the admin endpoints ask of the instance.
struct AdminFacts {
    std::function<std::vector<Dependency>(const runtime::Core&)> dependencies;
    std::function<bool()> is_draining;
};

/// Declares /healthz, /readyz, /metrics, /openapi.json, /docs and the page at /.
///
/// Expects: `router` is filled by the services before it serves; facts outlive it.
void add_admin_routes(http::Router& router, const AdminFacts& facts);

}  // namespace tenon::app
