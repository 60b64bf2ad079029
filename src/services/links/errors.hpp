// The errors of this room.
#pragma once

#include "base/error.hpp"

namespace tenon::links::errors {

using base::ErrorType;
using base::Kind;

inline constexpr ErrorType invalid_target{"links.invalid_target", Kind::unprocessable,
                                          "This URL cannot be a link's target"};
inline constexpr ErrorType target_is_own{"links.target_is_own", Kind::unprocessable,
                                         "A link cannot lead to a short link of this server"};
inline constexpr ErrorType invalid_alias{"links.invalid_alias", Kind::unprocessable,
                                         "This text cannot be an alias"};
inline constexpr ErrorType alias_taken{"links.alias_taken", Kind::conflict,
                                       "The alias belongs to another link"};
inline constexpr ErrorType unknown_domain{"links.unknown_domain", Kind::unprocessable,
                                          "The project has no such domain"};
inline constexpr ErrorType invalid_expiry{"links.invalid_expiry", Kind::unprocessable,
                                          "The link would expire before it exists"};
inline constexpr ErrorType invalid_status{"links.invalid_status", Kind::unprocessable,
                                          "Not a redirect status"};
inline constexpr ErrorType cannot_remove{"links.cannot_remove", Kind::unprocessable,
                                         "A link cannot be without this"};
inline constexpr ErrorType not_found{"links.not_found", Kind::not_found, "No such link"};

}  // namespace tenon::links::errors
