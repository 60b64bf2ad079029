// The errors of this room.
#pragma once

#include "base/error.hpp"

namespace tenon::http::errors {

using base::ErrorType;
using base::Kind;

// What the connection refuses before anybody sees a request.
inline constexpr ErrorType malformed{"http.malformed", Kind::invalid, "Not a valid HTTP request"};
inline constexpr ErrorType ambiguous_length{"http.ambiguous_length", Kind::invalid,
                                            "The length of the body is ambiguous"};
inline constexpr ErrorType bad_host{"http.bad_host", Kind::invalid,
                                    "A request needs exactly one valid Host header"};
inline constexpr ErrorType header_too_large{"http.header_too_large", Kind::too_large,
                                            "The request's header is too large"};
inline constexpr ErrorType target_too_long{"http.target_too_long", Kind::too_large,
                                           "The request's target is too long"};
inline constexpr ErrorType body_too_large{"http.body_too_large", Kind::too_large,
                                          "The request's body is too large"};
inline constexpr ErrorType version_unsupported{"http.version_unsupported", Kind::unsupported,
                                               "This version of HTTP is not offered"};
inline constexpr ErrorType coding_unsupported{"http.coding_unsupported", Kind::unsupported,
                                              "This transfer coding is not offered"};
inline constexpr ErrorType expectation_unsupported{
    "http.expectation_unsupported", Kind::unsupported, "This expectation cannot be met"};
inline constexpr ErrorType request_timeout{"http.request_timeout", Kind::invalid,
                                           "The request did not arrive in time", true};
inline constexpr ErrorType tls_expected{"http.tls_expected", Kind::invalid,
                                        "This port speaks TLS only"};
inline constexpr ErrorType connections_exhausted{"http.connections_exhausted", Kind::unavailable,
                                                 "Too many connections", true};
inline constexpr ErrorType bodies_exhausted{"http.bodies_exhausted", Kind::unavailable,
                                            "Too many request bodies at once", true};

// What is refused before a server starts.
inline constexpr ErrorType invalid_network{"http.invalid_network", Kind::invalid, "Not a network"};
inline constexpr ErrorType invalid_origin{"http.invalid_origin", Kind::invalid, "Not an origin"};
inline constexpr ErrorType invalid_target{"http.invalid_target", Kind::invalid,
                                          "Not a URL that can be posted to"};

// What the router refuses.
inline constexpr ErrorType no_endpoint{"http.no_endpoint", Kind::not_found, "No such endpoint"};
inline constexpr ErrorType method_not_allowed{"http.method_not_allowed", Kind::unsupported,
                                              "The endpoint does not offer this method"};
inline constexpr ErrorType origin_refused{"http.origin_refused", Kind::forbidden,
                                          "Pages of this origin may not call"};

// What every endpoint may refuse.
inline constexpr ErrorType unauthenticated{"http.unauthenticated", Kind::unauthenticated,
                                           "The request has no valid credentials"};
inline constexpr ErrorType scope_missing{"http.scope_missing", Kind::forbidden,
                                         "The credentials lack the scope of this endpoint"};
inline constexpr ErrorType invalid_parameters{"http.invalid_parameters", Kind::invalid,
                                              "Parameters were refused"};
inline constexpr ErrorType media_type{"http.media_type", Kind::unsupported,
                                      "The body must be application/json"};
inline constexpr ErrorType content_encoding{"http.content_encoding", Kind::unsupported,
                                            "The body must not be compressed"};
inline constexpr ErrorType invalid_header{"http.invalid_header", Kind::invalid,
                                          "A header was refused"};

// What becomes of failures that no caller can act on.
inline constexpr ErrorType deadline_exceeded{"http.deadline_exceeded", Kind::unavailable,
                                             "The answer did not come in time", true};
inline constexpr ErrorType unavailable{"http.unavailable", Kind::unavailable,
                                       "A part of the service is away", true};
inline constexpr ErrorType internal{"http.internal", Kind::unavailable,
                                    "The server failed at this request"};

}  // namespace tenon::http::errors
