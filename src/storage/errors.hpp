// The errors of this room.
#pragma once

#include "base/error.hpp"

namespace tenon::storage::errors {

using base::ErrorType;
using base::Kind;

inline constexpr ErrorType claim_mismatch{"storage.claim_mismatch", Kind::unprocessable,
                                          "This Idempotency-Key was used with another request"};
inline constexpr ErrorType claim_running{"storage.claim_running", Kind::conflict,
                                         "A request with this Idempotency-Key is still running",
                                         true};

inline constexpr ErrorType migration_changed{"storage.migration_changed", Kind::conflict,
                                             "An applied migration was changed afterwards"};
inline constexpr ErrorType schema_ahead{"storage.schema_ahead", Kind::conflict,
                                        "The schema is newer than this program"};
inline constexpr ErrorType schema_behind{"storage.schema_behind", Kind::conflict,
                                         "The schema lacks migrations of this program"};
inline constexpr ErrorType migration_failed{"storage.migration_failed", Kind::unavailable,
                                            "A migration could not be applied", true};
inline constexpr ErrorType migration_busy{"storage.migration_busy", Kind::unavailable,
                                          "Another program is migrating this node", true};
inline constexpr ErrorType lock_table_small{
    "storage.lock_table_small", Kind::unavailable,
    "The lock table does not hold the locks of all writes at once"};
inline constexpr ErrorType map_invalid{"storage.map_invalid", Kind::conflict,
                                       "The map of the nodes cannot be used"};
inline constexpr ErrorType no_map{"storage.no_map", Kind::conflict, "There is no map of the nodes"};
inline constexpr ErrorType control_away{"storage.control_away", Kind::unavailable,
                                        "The control database is away and no map was kept", true};
inline constexpr ErrorType no_role{"storage.no_role", Kind::not_found,
                                   "There is no such role on the node"};
inline constexpr ErrorType catalogs_differ{"storage.catalogs_differ", Kind::conflict,
                                           "The nodes do not have the same schema"};

}  // namespace tenon::storage::errors
