// The errors of this room.
#pragma once

#include <array>

#include "base/error.hpp"

namespace tenon::access::errors {

using base::ErrorType;
using base::Kind;

inline constexpr ErrorType malformed_key{"access.malformed_key", Kind::unauthenticated,
                                         "Not an API key of this server"};
inline constexpr ErrorType unknown_key{"access.unknown_key", Kind::unauthenticated,
                                       "No such API key"};
inline constexpr ErrorType revoked_key{"access.revoked_key", Kind::unauthenticated,
                                       "The API key was revoked"};
inline constexpr ErrorType expired_key{"access.expired_key", Kind::unauthenticated,
                                       "The API key has expired"};
/// What a request may be refused with for its key.
inline constexpr std::array of_credentials{&malformed_key, &unknown_key, &revoked_key,
                                           &expired_key};
inline constexpr ErrorType no_such_project{"access.no_such_project", Kind::not_found,
                                           "No such project"};
inline constexpr ErrorType no_such_key{"access.no_such_key", Kind::not_found, "No such key"};
inline constexpr ErrorType invalid_name{"access.invalid_name", Kind::invalid,
                                        "Not a name for a key"};
inline constexpr ErrorType invalid_scope{"access.invalid_scope", Kind::invalid,
                                         "Not a scope of this server"};

}  // namespace tenon::access::errors
