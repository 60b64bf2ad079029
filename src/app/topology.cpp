#include "app/topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "app/data_folder.hpp"
#include "app/instance.hpp"
#include "postgres/failure.hpp"
#include "runtime/failure.hpp"
#include "storage/errors.hpp"
#include "storage/fences.hpp"
#include "storage/migrate.hpp"
#include "storage/roles.hpp"

namespace tenon::app {

namespace {

using NodeSpec = storage::Map::NodeSpec;

constexpr const char* control_name = "control";

std::string_view trimmed(std::string_view text) {
    const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\n'; };
    while (!text.empty() && blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && blank(text.back())) text.remove_suffix(1);
    return text;
}

bool is_node_name(std::string_view name) {
    const auto allowed = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
    };
    return !name.empty() && name.size() <= 32 && name.front() >= 'a' && name.front() <= 'z' &&
           std::ranges::all_of(name, allowed);
}

NodeSpec read_node(std::string_view text) {
    const auto colon = text.find(':');
    const auto name = trimmed(text.substr(0, colon));
    if (colon == std::string_view::npos || !is_node_name(name)) {
        throw CommandError(
            "postgres.nodes is not NAME: CONNINFO; NAME: CONNINFO, where a name is small letters, "
            "digits and hyphens, such as: n1: host=db1 dbname=tenon; n2: host=db2 dbname=tenon");
    }
    return {.name = std::string(name), .conninfo = std::string(trimmed(text.substr(colon + 1)))};
}

/// True when the migration that brings the map was applied there.
bool knows_maps(storage::Session& control) {
    return control.value("SELECT to_regprocedure('tenon.map()') IS NOT NULL") == "t";
}

base::Result<> grant_all(const Config& config, const std::vector<NodeSpec>& databases) {
    const auto& role = config.postgres.serving_role;
    if (role.empty()) return {};
    const auto files = all_migrations();
    for (const auto& database : databases) {
        storage::Session session({.node = database.name, .conninfo = database.conninfo});
        if (auto granted = storage::grant_serving(session, files, role); !granted) return granted;
    }
    return {};
}

}  // namespace

std::vector<NodeSpec> configured_nodes(const Config& config) {
    std::vector<NodeSpec> nodes;
    std::string_view rest = config.postgres.nodes.reveal();
    while (!trimmed(rest).empty()) {
        const auto end = std::min(rest.find(';'), rest.size());
        nodes.push_back(read_node(rest.substr(0, end)));
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    if (nodes.empty()) {
        nodes.push_back({.name = "main", .conninfo = config.postgres.conninfo.reveal()});
    }
    return nodes;
}

void override_addresses(storage::MapRecord& record, const Config& config) {
    for (const auto& node : configured_nodes(config)) {
        const auto named = std::ranges::find(record.nodes, node.name, &storage::NodeRecord::name);
        if (named != record.nodes.end()) named->conninfo = node.conninfo;
    }
}

storage::FoundMap find_map(const Config& config) {
    auto found = [&] {
        try {
            return storage::find_map({.control = config.postgres.conninfo.reveal(),
                                      .folder = config.process.state_folder});
        } catch (const postgres::QueryFailed&) {
            throw CommandError(
                "The control database lacks this program's schema. Run `tenon "
                "migrate` first.");
        }
    }();
    if (!found && found.error().is(storage::errors::control_away)) {
        throw runtime::Unavailable(found.error().detail(), std::chrono::seconds(1));
    }
    if (!found) throw CommandError(found.error().detail());
    override_addresses(found->record, config);
    return std::move(*found);
}

storage::ControlOptions control_options(const Config& config) {
    return {.conninfo = config.postgres.conninfo.reveal(),
            .reference_tables = {"access.projects", "access.api_keys", "access.domains",
                                 "links.bijection"}};
}

std::vector<NodeSpec> databases_of(const Config& config) {
    const NodeSpec control{.name = control_name, .conninfo = config.postgres.conninfo.reveal()};
    auto nodes = configured_nodes(config);
    storage::Session session({.node = control.name, .conninfo = control.conninfo});
    if (knows_maps(session)) {
        if (auto record = storage::read_control(session)) {
            override_addresses(*record, config);
            nodes = storage::map_of(*record).nodes();
        }
    }
    const auto same = std::ranges::find(nodes, control.conninfo, &NodeSpec::conninfo);
    if (same == nodes.end()) nodes.insert(nodes.begin(), control);
    return nodes;
}

base::Result<std::vector<storage::AppliedMigration>> migrate_all(const Config& config) {
    const auto files = all_migrations();
    const auto databases = databases_of(config);
    auto applied = storage::migrate(databases, files);
    if (!applied) return applied;
    if (auto granted = grant_all(config, databases); !granted) {
        return std::unexpected(granted.error());
    }
    storage::Session control({.node = control_name, .conninfo = config.postgres.conninfo.reveal()});
    storage::fill_control(control, configured_nodes(config));
    auto record = storage::read_control(control);
    if (!record) return std::unexpected(record.error());
    override_addresses(*record, config);
    storage::fill_fences(storage::map_of(*record));
    return applied;
}

}  // namespace tenon::app
