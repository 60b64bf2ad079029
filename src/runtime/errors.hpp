// The errors of this room.
#pragma once

#include "base/error.hpp"

namespace tenon::runtime::errors {

inline constexpr base::ErrorType json_invalid{"json.invalid", base::Kind::invalid, "Not JSON"};
inline constexpr base::ErrorType json_mismatch{"json.mismatch", base::Kind::invalid,
                                               "The JSON has not the expected members"};

}  // namespace tenon::runtime::errors
