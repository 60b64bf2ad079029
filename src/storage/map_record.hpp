// The map as it is written down: in the control database, and on disk for when that is away.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "storage/map.hpp"

namespace tenon::storage {

/// One node, as it is written down.
struct NodeRecord {
    std::string name;
    std::string conninfo;
};
BOOST_DESCRIBE_STRUCT(NodeRecord, (), (name, conninfo))

/// A version of the map.
struct MapRecord {
    std::int64_t version = 0;
    std::vector<NodeRecord> nodes;
    std::vector<std::int32_t> owners;  ///< by bucket: a place in `nodes`
    std::vector<std::int64_t> epochs;  ///< by bucket
};
BOOST_DESCRIBE_STRUCT(MapRecord, (), (version, nodes, owners, epochs))

/// Reads what tenon.map() gives and what write_map wrote.
///
/// Shape:  at least one node with distinct names, whole spaces, owners that are there, epochs > 0.
/// Errors: storage.map_invalid, saying what is wrong.
[[nodiscard]] base::Result<MapRecord> read_map(std::string_view json);

/// The map of a record. Expects: one that read_map or Map::spread's rules would accept.
[[nodiscard]] Map map_of(const MapRecord& record);

/// Keeps the record in FOLDER/map.json for this account alone: it holds the nodes' passwords.
///
/// Shape:  whole or not at all, also after a power cut.
/// Errors: throws std::system_error when the folder cannot be written.
void write_map(const std::filesystem::path& folder, const MapRecord& record);
/// What write_map kept; nullopt when there is none. Errors: storage.map_invalid.
[[nodiscard]] base::Result<std::optional<MapRecord>> read_kept_map(
    const std::filesystem::path& folder);

}  // namespace tenon::storage
