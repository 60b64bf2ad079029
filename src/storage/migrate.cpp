#include "storage/migrate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/backoff.hpp"
#include "base/random.hpp"
#include "postgres/failure.hpp"
#include "runtime/failure.hpp"
#include "storage/catalog.hpp"
#include "storage/errors.hpp"
#include "storage/locks.hpp"
#include "storage/script.hpp"

namespace tenon::storage {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr auto make_record_table = R"(
    CREATE SCHEMA IF NOT EXISTS tenon;
    CREATE TABLE IF NOT EXISTS tenon.migrations (
        room       text        NOT NULL,
        number     integer     NOT NULL CHECK (number > 0),
        name       text        NOT NULL,
        checksum   bytea       NOT NULL CHECK (octet_length(checksum) = 32),
        applied_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        took       interval    NOT NULL,
        PRIMARY KEY (room, number)
    ))";

constexpr auto record_migration = R"(
    INSERT INTO tenon.migrations (room, number, name, checksum, took)  -- migrations_pkey
    VALUES ($1, $2::integer, $3, decode($4, 'hex'), $5::float8 * interval '1 millisecond'))";

// A waiter must not hold a snapshot, or CREATE INDEX CONCURRENTLY of the other waits for it while
// it waits for the other: so ask again instead of waiting in the server.
base::Result<> take_turn(Session& session, const MigrateOptions& options) {
    const auto deadline = steady_clock::now() + options.wait_for_other;
    const auto ask =
        fmt::format("SELECT pg_try_advisory_lock({}, {})", job_lock_class, migrate_lock);
    while (session.value(ask) != "t") {
        if (steady_clock::now() >= deadline) {
            return base::fail(errors::migration_busy,
                              fmt::format("Another program has been migrating node {} for {} s. "
                                          "Wait for it or end it, then run this again.",
                                          session.node(), options.wait_for_other.count()));
        }
        session.idle(milliseconds(100));
    }
    return {};
}

void set_up(Session& session, const MigrateOptions& options) {
    session.run(
        fmt::format("SET lock_timeout = {}; SET statement_timeout = 0; "
                    "SET idle_in_transaction_session_timeout = '60s'; "
                    "SET client_min_messages = warning",
                    options.lock_timeout.count()));
}

// One file of one node, tried until it is applied or its failure is final.
class Application {
public:
    Application(Session& session, const Migration& migration, const MigrateOptions& options)
        : session_(session), migration_(migration), options_(options) {}

    base::Result<AppliedMigration> run() {
        base::SecureRandom random;
        base::Backoff backoff({.first = milliseconds(200), .longest = milliseconds(5'000)}, random);
        for (int attempt = 1;; ++attempt) {
            try {
                const auto took = apply();
                return AppliedMigration{.node = session_.node(),
                                        .migration = title_of(migration_),
                                        .took = took,
                                        .attempts = attempt};
            } catch (const postgres::QueryFailed& failure) {
                undo();
                const bool lock = failure.is("55P03") || failure.is("40P01");
                if (!lock || attempt >= options_.attempts_max) {
                    return base::fail(describe(failure, attempt));
                }
            }
            session_.idle(backoff.next());
        }
    }

private:
    milliseconds apply() {
        const auto begun = steady_clock::now();
        const bool outside = runs_outside_transaction(migration_.sql);
        if (!outside) {
            session_.run("BEGIN");
        }
        for (const Step& step : split_script(migration_.sql)) {
            step_ = step;
            if (outside) {
                drop_invalid_index(step.sql);
            }
            session_.run(std::string(step.sql));
        }
        const auto took = std::chrono::duration_cast<milliseconds>(steady_clock::now() - begun);
        session_.run(
            record_migration,
            {std::string(migration_.room), std::to_string(migration_.number),
             std::string(migration_.name), checksum_of(migration_), std::to_string(took.count())});
        if (!outside) {
            session_.run("COMMIT");
        }
        return took;
    }

    void undo() {
        if (!runs_outside_transaction(migration_.sql)) {
            session_.run("ROLLBACK");
        }
    }

    // What CREATE INDEX CONCURRENTLY leaves behind when it fails is maintained but never used.
    void drop_invalid_index(std::string_view sql) {
        const std::string index = concurrent_index_of(sql);
        if (index.empty()) {
            return;
        }
        const std::string table = footprint_of(sql).table;
        const auto found = session_.run(R"(
            SELECT format('%I.%I', n.nspname, c.relname)
            FROM pg_index AS i
            JOIN pg_class AS c ON c.oid = i.indexrelid
            JOIN pg_namespace AS n ON n.oid = c.relnamespace
            WHERE i.indrelid = to_regclass($1) AND c.relname = $2 AND NOT i.indisvalid)",
                                        {table, index});
        for (const TextRow& row : found) {
            session_.run("DROP INDEX CONCURRENTLY " + row[0].value_or(""));
        }
    }

    base::Error describe(const postgres::QueryFailed& failure, int attempts) const {
        const auto& report = failure.report();
        std::string detail = fmt::format(
            "Node {}, {}, line {}, after {} {}: {} (SQLSTATE {}) in: {}", session_.node(),
            title_of(migration_), step_.line, attempts, attempts == 1 ? "attempt" : "attempts",
            report.message, report.sqlstate, step_.sql.substr(0, 200));
        if (!report.detail.empty()) {
            detail += fmt::format(" ({})", report.detail);
        }
        if (failure.is("55P03")) {
            detail += " Find who holds the table's lock in pg_locks, then run this again.";
        }
        return {errors::migration_failed, std::move(detail)};
    }

    Session& session_;
    const Migration& migration_;
    const MigrateOptions& options_;
    Step step_;
};

struct Turn {
    Session session;
    SchemaState state;
};

// Connects to all nodes and takes the turn on each, in order, so that two migrators never wait for
// each other crosswise.
base::Result<std::vector<Turn>> take_turns(std::span<const Map::NodeSpec> nodes,
                                           std::span<const Migration> files,
                                           const MigrateOptions& options) {
    std::vector<Turn> turns;
    for (const Map::NodeSpec& node : nodes) {
        Session session({.node = node.name, .conninfo = node.conninfo});
        set_up(session, options);
        if (auto turn = take_turn(session, options); !turn) {
            return std::unexpected(turn.error());
        }
        SchemaState state = compare_record(node.name, files, read_record(session));
        if (auto allowed = allow_migration(state); !allowed) {
            return std::unexpected(allowed.error());
        }
        turns.push_back({.session = std::move(session), .state = std::move(state)});
    }
    return turns;
}

}  // namespace

base::Result<std::vector<AppliedMigration>> migrate(std::span<const Map::NodeSpec> nodes,
                                                    std::span<const Migration> files,
                                                    const MigrateOptions& options) {
    auto turns = take_turns(nodes, files, options);
    if (!turns) {
        return std::unexpected(turns.error());
    }
    std::vector<AppliedMigration> applied;
    for (Turn& turn : *turns) {
        if (!turn.state.pending.empty()) {
            turn.session.run(make_record_table);
        }
        for (const Migration& migration : turn.state.pending) {
            auto done = Application(turn.session, migration, options).run();
            if (!done) {
                return std::unexpected(done.error());
            }
            if (options.on_applied) {
                options.on_applied(*done);
            }
            applied.push_back(std::move(*done));
        }
    }
    std::vector<Catalog> catalogs;
    for (Turn& turn : *turns) {
        catalogs.push_back(read_catalog(turn.session, files));
    }
    if (auto same = compare_catalogs(catalogs); !same) {
        return std::unexpected(same.error());
    }
    return applied;
}

base::Result<std::vector<PlannedStep>> plan_migration(std::span<const Map::NodeSpec> nodes,
                                                      std::span<const Migration> files) {
    std::vector<PlannedStep> plan;
    for (const Map::NodeSpec& node : nodes) {
        Session session({.node = node.name, .conninfo = node.conninfo});
        session.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
        const SchemaState state = compare_record(node.name, files, read_record(session));
        if (auto allowed = allow_migration(state); !allowed) {
            return std::unexpected(allowed.error());
        }
        for (const Migration& migration : state.pending) {
            for (const Step& step : split_script(migration.sql)) {
                const Footprint footprint = footprint_of(step.sql);
                plan.push_back({.node = node.name,
                                .migration = title_of(migration),
                                .line = step.line,
                                .kind = std::string(footprint.kind),
                                .lock = std::string(footprint.lock),
                                .table = footprint.table,
                                .rows = estimate_rows(session, footprint.table),
                                .in_transaction = !runs_outside_transaction(migration.sql)});
            }
        }
    }
    return plan;
}

std::vector<SchemaState> inspect_schema(std::span<const Map::NodeSpec> nodes,
                                        std::span<const Migration> files) {
    std::vector<SchemaState> states;
    for (const Map::NodeSpec& node : nodes) {
        try {
            Session session({.node = node.name, .conninfo = node.conninfo});
            states.push_back(compare_record(node.name, files, read_record(session)));
        } catch (const runtime::Unavailable& away) {
            SchemaState state;
            state.node = node.name;
            state.unreachable = away.what();
            states.push_back(std::move(state));
        }
    }
    return states;
}

base::Result<> check_schema(std::span<const Map::NodeSpec> nodes,
                            std::span<const Migration> files) {
    for (const SchemaState& state : inspect_schema(nodes, files)) {
        if (auto allowed = allow_serving(state); !allowed) {
            return allowed;
        }
    }
    return {};
}

}  // namespace tenon::storage
