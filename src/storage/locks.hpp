// The advisory locks of this product: (class, number) pairs, the same on every node.
#pragma once

#include <cstdint>

namespace tenon::storage {

/// One lock per bucket: shared in every write transaction (tenon.enter), exclusive at a move's
/// flip. "TENB"; written out in migrations/0001_fence.sql too.
inline constexpr std::int32_t bucket_lock_class = 0x54454E42;

/// One lock per id that a pending claim drew, by its hash: shared where the effect is made
/// (tenon.act), exclusive where it is undone (tenon.undo). "TENE"; written out in
/// migrations/0007_pending_claims.sql.
inline constexpr std::int32_t effect_lock_class = 0x54454E45;

/// One lock per job that only one process does at a time on a node. "TENJ".
inline constexpr std::int32_t job_lock_class = 0x54454E4A;
inline constexpr std::int32_t migrate_lock = 1;
inline constexpr std::int32_t reap_claims_lock = 2;
inline constexpr std::int32_t fences_lock = 3;
inline constexpr std::int32_t map_lock = 4;

}  // namespace tenon::storage
