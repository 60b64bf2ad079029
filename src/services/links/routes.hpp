// The endpoints of links, declared.
#pragma once

#include <functional>

#include "http/endpoint.hpp"
#include "services/links/links.hpp"

namespace tenon::links {

/// Gives the service of a core; called for every request.
using OfCore = std::function<Links&(const runtime::Core&)>;

/// Declares /v1/links and the redirect of /{code}.
///
/// Expects: `links` outlives the router.
void add_routes(http::Router& router, const OfCore& links);

}  // namespace tenon::links
