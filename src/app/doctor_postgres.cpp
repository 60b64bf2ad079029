#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/doctor.hpp"

namespace tenon::app {

using namespace std::chrono_literals;

namespace {

constexpr int major_oldest = 15;
constexpr int major_newest = 18;
constexpr auto skew_noticed = 500ms;
constexpr auto skew_max = 5s;

Finding about(const PostgresFacts& node, const char* id, Severity severity, std::string evidence,
              std::string fix) {
    auto finding = make_finding(id, severity, std::move(evidence), std::move(fix));
    finding.node = node.node;
    return finding;
}

Finding judge_version(const PostgresFacts& node) {
    const int major = node.version / 10'000;
    const auto severity = major < major_oldest   ? Severity::failure
                          : major > major_newest ? Severity::warning
                                                 : Severity::ok;
    return about(
        node, "postgres.version", severity,
        fmt::format("PostgreSQL {}.{}", major, node.version % 10'000),
        fmt::format("use PostgreSQL {} to {}; others are not tested", major_oldest, major_newest));
}

Finding judge_switch(const PostgresFacts& node, const char* id, const char* name, bool on,
                     const char* what_is_lost) {
    return about(node, id, on ? Severity::ok : Severity::failure,
                 fmt::format("{} = {}{}", name, on ? "on" : "off", on ? "" : what_is_lost),
                 fmt::format("ALTER SYSTEM SET {} = on; SELECT pg_reload_conf();", name));
}

Finding judge_commit(const PostgresFacts& node) {
    const bool lasts = node.synchronous_commit != "off";
    return about(node, "postgres.synchronous_commit", lasts ? Severity::ok : Severity::failure,
                 fmt::format("synchronous_commit = {}{}", node.synchronous_commit,
                             lasts ? "" : ": a crash loses writes that were acknowledged"),
                 fmt::format("ALTER ROLE \"{}\" RESET synchronous_commit; or ALTER SYSTEM SET "
                             "synchronous_commit = on; SELECT pg_reload_conf();",
                             node.role));
}

Finding judge_locks(const PostgresFacts& node, const MachineFacts& machine) {
    const auto writers = machine.cores * machine.connections_per_core;
    const auto room = storage::check_lock_room(node.locks, writers);
    const auto fits = fmt::format("room for {} locks; {} writers of one process may take {}",
                                  node.locks.size(), writers, writers * base::slots_total);
    if (room) return about(node, "postgres.lock_table", Severity::ok, fits, "");
    return about(node, "postgres.lock_table", Severity::warning, fits, room.error().detail());
}

Finding judge_prepared(const PostgresFacts& node) {
    const auto bound = node.locks.prepared_transactions;
    return about(node, "postgres.prepared_transactions", bound > 0 ? Severity::ok : Severity::info,
                 fmt::format("max_prepared_transactions = {}{}", bound,
                             bound > 0 ? "" : ": two-phase commit between nodes is off"),
                 "ALTER SYSTEM SET max_prepared_transactions = 64; and restart, on standbys, too");
}

Finding judge_connections(const PostgresFacts& node, const MachineFacts& machine) {
    const auto wanted = machine.cores * machine.connections_per_core;
    const auto given = node.locks.connections - node.reserved_connections;
    return about(node, "postgres.connections", wanted <= given ? Severity::ok : Severity::warning,
                 fmt::format("one process opens up to {} connections, {} are given", wanted, given),
                 fmt::format("set max_connections to {} per process or more, or lower "
                             "postgres.multiplexed and postgres.exclusive_max",
                             wanted + node.reserved_connections));
}

Finding judge_wal(const PostgresFacts& node) {
    const bool logical = node.wal_level == "logical";
    return about(node, "postgres.wal_level", logical ? Severity::ok : Severity::info,
                 fmt::format("wal_level = {}{}", node.wal_level,
                             logical ? "" : ": buckets cannot be moved to another node"),
                 "ALTER SYSTEM SET wal_level = logical; and restart");
}

Finding judge_role(const PostgresFacts& node) {
    if (node.is_superuser) {
        return about(
            node, "postgres.role", Severity::warning,
            fmt::format("'{}' is a superuser; a plain owner of the database is enough", node.role),
            "CREATE ROLE tenon LOGIN; ALTER DATABASE ... OWNER TO tenon; and use that role");
    }
    return about(node, "postgres.role", node.owns_database ? Severity::ok : Severity::warning,
                 fmt::format("'{}' is no superuser and {} the database", node.role,
                             node.owns_database ? "owns" : "does not own"),
                 fmt::format("ALTER DATABASE ... OWNER TO \"{}\";", node.role));
}

Finding judge_encoding(const PostgresFacts& node) {
    const bool utf8 = node.encoding == "UTF8";
    return about(node, "postgres.encoding", utf8 ? Severity::ok : Severity::failure,
                 fmt::format("server_encoding = {}", node.encoding),
                 "CREATE DATABASE tenon ENCODING 'UTF8' TEMPLATE template0; and migrate there");
}

Finding judge_clock(const PostgresFacts& node) {
    const auto off = std::chrono::abs(node.ahead);
    const auto least = std::max(off - node.ahead_error, std::chrono::microseconds(0));
    const auto severity = least > skew_max       ? Severity::failure
                          : least > skew_noticed ? Severity::warning
                                                 : Severity::ok;
    const auto to_ms = [](std::chrono::microseconds time) {
        return static_cast<double>(time.count()) / 1'000;
    };
    return about(
        node, "postgres.clock", severity,
        fmt::format("its clock is {:.1f} ms {} this machine's, give or take {:.1f} ms", to_ms(off),
                    node.ahead < 0us ? "behind" : "ahead of", to_ms(node.ahead_error)),
        "run an NTP client (chrony, systemd-timesyncd) on both machines");
}

Finding judge_encryption(const PostgresFacts& node) {
    if (!node.is_remote) {
        return about(node, "postgres.encryption", Severity::ok,
                     "the connection stays on this machine", "");
    }
    return about(node, "postgres.encryption", node.is_encrypted ? Severity::ok : Severity::warning,
                 node.is_encrypted ? "the connection is encrypted"
                                   : "data and passwords cross the network in clear",
                 "turn ssl on in the server and add sslmode=verify-full to postgres.conninfo");
}

}  // namespace

std::vector<Finding> judge_postgres(const PostgresFacts& node, const MachineFacts& machine) {
    if (!node.unreachable.empty()) {
        return {about(node, "postgres.reachable", Severity::failure, node.unreachable,
                      "start it, or correct postgres.conninfo (`tenon config show` tells where it "
                      "comes from)")};
    }
    return {about(node, "postgres.reachable", Severity::ok, "it answers", ""),
            judge_version(node),
            judge_switch(node, "postgres.fsync", "fsync", node.fsync,
                         ": a power cut loses or destroys data"),
            judge_switch(node, "postgres.full_page_writes", "full_page_writes",
                         node.full_page_writes, ": a power cut may leave torn pages"),
            judge_commit(node),
            judge_locks(node, machine),
            judge_prepared(node),
            judge_connections(node, machine),
            judge_wal(node),
            judge_role(node),
            judge_encoding(node),
            judge_clock(node),
            judge_encryption(node)};
}

std::vector<Finding> judge_schema(const PostgresFacts& node) {
    if (!node.unreachable.empty()) return {};
    std::vector<std::string> pending;
    pending.reserve(node.schema.pending.size());
    for (const auto& file : node.schema.pending) pending.push_back(storage::title_of(file));
    const auto judge = [&node](const char* id, const std::vector<std::string>& files,
                               const char* none, const char* some, const char* fix) {
        return about(node, id, files.empty() ? Severity::ok : Severity::failure,
                     files.empty() ? none : fmt::format("{}: {}", some, fmt::join(files, ", ")),
                     fix);
    };
    return {judge("schema.pending", pending, "no migration is pending", "not applied",
                  "run `tenon migrate plan`, then `tenon migrate`"),
            judge("schema.changed", node.schema.changed, "no applied migration was changed",
                  "changed after they were applied",
                  "use the release that applied them, or restore the files; `serve` refuses this"),
            judge("schema.ahead", node.schema.unknown, "this program knows all applied migrations",
                  "applied by a newer release", "use that release; `serve` refuses this one")};
}

}  // namespace tenon::app
