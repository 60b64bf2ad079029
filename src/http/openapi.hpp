// The OpenAPI document, from the declarations that serve the requests.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "http/route.hpp"

namespace tenon::http {

/// What the document tells of.
struct Documented {
    std::vector<const Endpoint*> endpoints;  ///< by path and method; without a summary: left out
    std::vector<const base::ErrorType*> of_credentials;  ///< what every endpoint with a scope adds
};

/// OpenAPI 3.1 as JSON; the same endpoints give the same bytes.
[[nodiscard]] std::string write_openapi(const Documented& documented, std::string_view server_url);

}  // namespace tenon::http
