// The nodes and the control database that a configuration leads to.
#pragma once

#include <vector>

#include "app/config.hpp"
#include "storage/control.hpp"
#include "storage/database.hpp"
#include "storage/migrate.hpp"

namespace tenon::app {

/// The nodes that the configuration names; without any, the control database's own is "main".
///
/// Shape:  postgres.nodes is "NAME: CONNINFO; NAME: CONNINFO".
/// Errors: throws CommandError with what was expected.
[[nodiscard]] std::vector<storage::Map::NodeSpec> configured_nodes(const Config& config);

/// The map of the control database, or the kept one, with the addresses that the configuration
/// overrides by name.
///
/// Expects: not on a core's thread.
/// Errors:  throws CommandError in one sentence; Unavailable when there is neither.
[[nodiscard]] storage::FoundMap find_map(const Config& config);
/// The same for a record that was read later.
void override_addresses(storage::MapRecord& record, const Config& config);

/// Where the control database is, and what it has the masters of.
[[nodiscard]] storage::ControlOptions control_options(const Config& config);

/// Migrates the control database, writes the first map when it has none, and migrates all nodes.
///
/// Expects: not on a core's thread.
/// Errors:  those of storage::migrate; throws Unavailable when a database is away.
[[nodiscard]] base::Result<std::vector<storage::AppliedMigration>> migrate_all(
    const Config& config);
/// The control database and the nodes, each database once, as migrate goes through them.
[[nodiscard]] std::vector<storage::Map::NodeSpec> databases_of(const Config& config);

}  // namespace tenon::app
