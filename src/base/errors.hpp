// The errors of this room.
#pragma once

#include "base/error.hpp"

namespace tenon::base::errors {

inline constexpr ErrorType invalid_id{"base.invalid_id", Kind::invalid, "Not an id of this kind"};
inline constexpr ErrorType invalid_cursor{"base.invalid_cursor", Kind::invalid,
                                          "Not a cursor of this list"};
inline constexpr ErrorType no_lease{"base.no_lease", Kind::unavailable,
                                    "No live lease on a node number", true};
inline constexpr ErrorType clock_unusable{"base.clock_unusable", Kind::unavailable,
                                          "The clock cannot date ids", true};
inline constexpr ErrorType no_nodes{"base.no_nodes", Kind::unavailable, "No node to place keys on",
                                    true};
inline constexpr ErrorType invalid_placement{"base.invalid_placement", Kind::invalid,
                                             "Keys cannot be placed so"};

}  // namespace tenon::base::errors
