// The errors of this room.
#pragma once

#include "base/error.hpp"

namespace tenon::runtime::errors {

inline constexpr base::ErrorType json_invalid{"json.invalid", base::Kind::invalid, "Not JSON"};
inline constexpr base::ErrorType json_mismatch{"json.mismatch", base::Kind::invalid,
                                               "The JSON has not the expected members"};

inline constexpr base::ErrorType config_invalid{"config.invalid", base::Kind::invalid,
                                                "The configuration is refused"};

}  // namespace tenon::runtime::errors
