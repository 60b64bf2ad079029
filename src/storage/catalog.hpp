// What a node's schema really is, read from PostgreSQL's own tables.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "storage/migration.hpp"
#include "storage/session.hpp"

namespace tenon::storage {

/// The schema of one node: an object's name to its definition.
struct Catalog {
    std::string node;
    std::map<std::string, std::string> objects;  ///< "column tenon.fences.epoch" -> "bigint ..."
    std::vector<std::string> unbucketed;  ///< unique indexes of sharded tables that lack the bucket
    std::vector<std::string> invalid;     ///< indexes that are not valid
};

/// The schemas that `files` belong to: tenon for storage, else the one named like the room.
[[nodiscard]] std::set<std::string> schemas_of(std::span<const Migration> files);

/// Reads columns, constraints, indexes and functions of the schemas of `files`.
[[nodiscard]] Catalog read_catalog(Session& session, std::span<const Migration> files);

/// Errors: storage.catalogs_differ, naming up to ten objects that differ, that are unique without
///         beginning with the bucket, or that are invalid.
[[nodiscard]] base::Result<> compare_catalogs(const std::vector<Catalog>& catalogs);

/// The planner's estimate of a table's rows, partitions included; 0 when there is no such table.
[[nodiscard]] std::int64_t estimate_rows(Session& session, const std::string& table);

}  // namespace tenon::storage
