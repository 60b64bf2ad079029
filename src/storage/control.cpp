#include "storage/control.hpp"

#include <fmt/format.h>

#include <system_error>

#include "runtime/failure.hpp"
#include "runtime/log.hpp"
#include "storage/errors.hpp"
#include "storage/locks.hpp"

namespace tenon::storage {

namespace {

// $1 positions, $2 names, $3 conninfos: map_nodes_pkey.
constexpr auto add_nodes = R"(
    INSERT INTO tenon.map_nodes (position, name, conninfo)
    VALUES ($1::integer, $2, $3))";

// $1 how many nodes, $2 how many buckets: map_buckets_pkey.
constexpr auto spread_buckets = R"(
    INSERT INTO tenon.map_buckets (bucket, node, epoch)
    SELECT bucket, node.name, 1
    FROM generate_series(0, $2::integer - 1) AS bucket
    JOIN tenon.map_nodes AS node ON node.position = bucket % $1::integer
    ORDER BY bucket)";

void keep(const MapSource& source, const MapRecord& record) {
    if (source.folder.empty()) {
        return;
    }
    try {
        write_map(source.folder, record);
    } catch (const std::system_error& failure) {
        // Served all the same: what is lost is the start without the control database.
        runtime::log(runtime::Level::warning, "the map could not be kept on disk",
                     {{"folder", source.folder.string()}, {"reason", failure.what()}});
    }
}

base::Result<FoundMap> use_kept(const MapSource& source, const std::string& why_away) {
    if (!source.folder.empty()) {
        auto kept = read_kept_map(source.folder);
        if (!kept) {
            return std::unexpected(kept.error());
        }
        if (*kept) {
            return FoundMap{.record = std::move(**kept), .is_kept = true};
        }
    }
    return base::fail(
        errors::control_away,
        fmt::format("The control database is away ({}) and no map was kept{}. Start "
                    "it, or set postgres.conninfo to where it is.",
                    why_away,
                    source.folder.empty() ? std::string() : " in " + source.folder.string()));
}

}  // namespace

bool fill_control(Session& control, std::span<const Map::NodeSpec> nodes,
                  std::uint32_t spaces_total) {
    control.run("BEGIN");
    control.run(fmt::format("SELECT pg_advisory_xact_lock({}, {})", job_lock_class, map_lock));
    const bool is_empty = control.value("SELECT tenon.map() IS NULL") == "t";
    if (is_empty) {
        for (std::size_t at = 0; at < nodes.size(); ++at) {
            control.run(add_nodes, {std::to_string(at), nodes[at].name, nodes[at].conninfo});
        }
        control.run(spread_buckets, {std::to_string(nodes.size()),
                                     std::to_string(spaces_total * base::slots_total)});
    }
    control.run("COMMIT");
    return is_empty;
}

base::Result<MapRecord> read_control(Session& control) {
    const auto rows = control.run("SELECT tenon.map()");
    if (rows.empty() || !rows[0][0]) {
        return base::fail(errors::no_map,
                          "The control database holds no map. Run `tenon migrate` first.");
    }
    return read_map(*rows[0][0]);
}

base::Result<FoundMap> find_map(const MapSource& source) {
    std::string why_away;
    try {
        Session control(
            {.node = "control", .conninfo = source.control, .connect_timeout = source.patience});
        auto record = read_control(control);
        if (!record) {
            return std::unexpected(record.error());
        }
        keep(source, *record);
        return FoundMap{.record = std::move(*record), .is_kept = false};
    } catch (const runtime::Unavailable& away) {
        why_away = away.what();
    }
    return use_kept(source, why_away);
}

}  // namespace tenon::storage
