// Brings every node's schema to what this program expects.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "storage/map.hpp"
#include "storage/migration.hpp"
#include "storage/record.hpp"

namespace tenon::storage {

/// One file applied to one node.
struct AppliedMigration {
    std::string node;
    std::string migration;  ///< "storage/0001_fence"
    std::chrono::milliseconds took{0};
    int attempts = 1;
};

/// How patient a migrator is.
struct MigrateOptions {
    /// How long a statement waits for a lock while others wait behind it; bounded by patience, not
    /// by need: after it the file is rolled back and tried again.
    std::chrono::milliseconds lock_timeout{2'000};
    /// How often a file is tried when a lock was not granted (55P03) or a deadlock ended it
    /// (40P01).
    int attempts_max = 10;
    /// How long to wait for another program that migrates the same node.
    std::chrono::seconds wait_for_other{60};
    /// Told of each file as soon as it is applied.
    std::function<void(const AppliedMigration&)> on_applied = nullptr;
};

/// Applies what is pending to every node and tells what was applied.
///
/// Shape:   all nodes are judged before one is changed. Each file is one transaction with its
///          record, but files marked `-- tenon: no-transaction`: statement by statement, an index
///          that an earlier try left invalid is dropped first. At the end the nodes' catalogs are
///          compared, and every unique index of a table with a bucket must begin with it.
/// Expects: `files` in the order of rooms, then numbers; not on a core's thread.
/// Errors:  storage.migration_changed, storage.schema_ahead, storage.migration_busy,
///          storage.migration_failed (names node, file, line, statement and SQLSTATE; what was
///          applied before stays, so it may be run again), storage.catalogs_differ. Throws
///          Unavailable when a node is away.
[[nodiscard]] base::Result<std::vector<AppliedMigration>> migrate(
    std::span<const Map::NodeSpec> nodes, std::span<const Migration> files,
    const MigrateOptions& options = {});

/// A statement that migrate would run.
struct PlannedStep {
    std::string node;
    std::string migration;
    int line = 1;
    std::string kind;            ///< "ALTER TABLE"; empty when not known
    std::string lock;            ///< "ACCESS EXCLUSIVE"
    std::string table;           ///< empty when it names none
    std::int64_t rows = 0;       ///< the planner's estimate for that table; 0 when it is new
    bool in_transaction = true;  ///< false: locks are kept for the statement only
};

/// Lists the statements of what is pending. Changes nothing: reads in READ ONLY transactions.
///
/// Errors: as migrate's, before anything is applied.
[[nodiscard]] base::Result<std::vector<PlannedStep>> plan_migration(
    std::span<const Map::NodeSpec> nodes, std::span<const Migration> files);

/// Every node's schema beside this program's files; a node that is away is reported, not thrown.
[[nodiscard]] std::vector<SchemaState> inspect_schema(std::span<const Map::NodeSpec> nodes,
                                                      std::span<const Migration> files);

/// What `serve` asks before it starts: allow_serving of every node.
[[nodiscard]] base::Result<> check_schema(std::span<const Map::NodeSpec> nodes,
                                          std::span<const Migration> files);

}  // namespace tenon::storage
