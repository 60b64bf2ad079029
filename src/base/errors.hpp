// The errors of this room.
#pragma once

#include "base/error.hpp"

namespace tenon::base::errors {

inline constexpr ErrorType invalid_id{"base.invalid_id", Kind::invalid, "Not an id of this kind"};
inline constexpr ErrorType invalid_cursor{"base.invalid_cursor", Kind::invalid,
                                          "Not a cursor of this list"};

}  // namespace tenon::base::errors
