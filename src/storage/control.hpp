// The control database, before and beside the cores: who fills it, and who reads its map.
#pragma once

#include <chrono>
#include <filesystem>
#include <span>
#include <string>

#include "base/result.hpp"
#include "storage/map_record.hpp"
#include "storage/session.hpp"

namespace tenon::storage {

/// Writes the first map, every bucket of `spaces_total` spaces on the nodes in turn, unless there
/// is one. True when it was written.
///
/// Expects: a migrated control database; at least one node; not on a core's thread.
/// Errors:  those of Session.
bool fill_control(Session& control, std::span<const Map::NodeSpec> nodes,
                  std::uint32_t spaces_total = 1);

/// The present map. Errors: storage.no_map when none was written, storage.map_invalid.
[[nodiscard]] base::Result<MapRecord> read_control(Session& control);

/// Where a process that starts finds its map.
struct MapSource {
    std::string control;           ///< conninfo of the control database
    std::filesystem::path folder;  ///< where the map is kept for when that is away; empty: nowhere
    std::chrono::seconds patience{2};
};

/// The map, and whether it is the kept one.
struct FoundMap {
    MapRecord record;
    bool is_kept = false;  ///< the control database was away
};

/// The control database's map, kept on disk from then on; with it away, the one that was kept.
///
/// Errors: storage.control_away with the reason and its mend when it is away and no map was kept;
///         those of read_control.
[[nodiscard]] base::Result<FoundMap> find_map(const MapSource& source);

}  // namespace tenon::storage
