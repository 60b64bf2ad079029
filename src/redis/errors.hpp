// The errors of this room.
#pragma once

#include "base/error.hpp"

namespace tenon::redis::errors {

inline constexpr base::ErrorType invalid_address{"redis.invalid_address", base::Kind::invalid,
                                                 "Not the address of a Redis server"};

}  // namespace tenon::redis::errors
