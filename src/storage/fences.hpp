// The fences of a node, set from the map (migrations/0001_fence.sql says what they guard).
#pragma once

#include <cstddef>

#include "storage/map.hpp"
#include "storage/session.hpp"

namespace tenon::storage {

/// What fill_fences found and did.
struct FilledFences {
    std::size_t added = 0;      ///< buckets of epoch 1 that had no fence
    std::size_t confirmed = 0;  ///< fences of an earlier timeline, now confirmed on the present one
    std::size_t differing = 0;  ///< fences that are not (active, the map's epoch): left alone
};

/// Sets the fences of the map's buckets on `node`, and opens the map's spaces there.
///
/// Shape:   a bucket of epoch 1 was never moved, so its fence may be made from the map alone. One
///          that was moved belongs to the move, which knows when the target may write: such a fence
///          is neither made nor changed here. Repeatable; several programs at once are safe.
/// Expects: a migrated node; the session is to that node; not on a core's thread.
/// Errors:  those of Session.
FilledFences fill_fences(Session& session, const Map& map, Node node);

/// The same for all nodes, each over a session of its own.
void fill_fences(const Map& map);

}  // namespace tenon::storage
