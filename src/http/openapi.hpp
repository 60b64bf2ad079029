// The OpenAPI document, from the declarations that serve the requests.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "http/route.hpp"

namespace tenon::http {

/// OpenAPI 3.1 as JSON; the same endpoints give the same bytes.
///
/// Expects: `endpoints` sorted by path and method. Raw endpoints without a summary are left out.
[[nodiscard]] std::string write_openapi(const std::vector<const Endpoint*>& endpoints,
                                        std::string_view server_url);

}  // namespace tenon::http
