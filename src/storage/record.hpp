// Which migrations a node has, beside those that this program knows.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "storage/migration.hpp"
#include "storage/session.hpp"

namespace tenon::storage {

/// A row of tenon.migrations.
struct RecordedMigration {
    std::string room;
    int number = 0;
    std::string name;
    std::string checksum;  ///< SHA-256 of the file, hexadecimal
};

/// A node's schema beside this program's files.
struct SchemaState {
    std::string node;
    std::string unreachable;           ///< why it did not answer; empty when it did
    std::vector<Migration> pending;    ///< in the order in which they are to be applied
    std::vector<std::string> changed;  ///< applied, and another text in this program
    std::vector<std::string> unknown;  ///< applied, and not in this program
};

/// "storage/0001_fence"
[[nodiscard]] std::string title_of(const Migration& migration);
/// SHA-256 of its text, hexadecimal.
[[nodiscard]] std::string checksum_of(const Migration& migration);

/// Compares without I/O. `files` is in the order of rooms, then numbers.
[[nodiscard]] SchemaState compare_record(std::string node, std::span<const Migration> files,
                                         const std::vector<RecordedMigration>& recorded);

/// What forbids migrating: changed or unknown migrations.
///
/// Errors: storage.migration_changed, storage.schema_ahead; the detail says what to do.
[[nodiscard]] base::Result<> allow_migration(const SchemaState& state);

/// What forbids serving: all of the above and pending migrations. An unreachable node passes: its
/// buckets are refused later, one by one.
///
/// Errors: storage.migration_changed, storage.schema_ahead, storage.schema_behind.
[[nodiscard]] base::Result<> allow_serving(const SchemaState& state);

/// Reads tenon.migrations; empty when it does not exist. Changes nothing.
[[nodiscard]] std::vector<RecordedMigration> read_record(Session& session);

}  // namespace tenon::storage
