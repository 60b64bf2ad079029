#include <fmt/format.h>

#include "app/commands.hpp"
#include "app/instance.hpp"
#include "app/topology.hpp"
#include "storage/migrate.hpp"

namespace tenon::app {

namespace {

/// One applied file, as printed.
struct Applied {
    std::string node;
    std::string migration;
    std::int64_t took_ms = 0;
    std::int32_t attempts = 1;
};
BOOST_DESCRIBE_STRUCT(Applied, (), (node, migration, took_ms, attempts))

/// One statement that would run, as printed.
struct Planned {
    std::string node;
    std::string migration;
    std::int32_t line = 0;
    std::string statement;
    std::string lock;
    std::string table;
    std::int64_t rows = 0;
};
BOOST_DESCRIBE_STRUCT(Planned, (), (node, migration, line, statement, lock, table, rows))

std::string as_plan(const std::vector<Planned>& steps) {
    if (steps.empty()) return "nothing is pending\n";
    auto text = fmt::format("{:<10}{:<28}{:<6}{:<26}{:<26}{:<30}{}\n", "node", "file", "line",
                            "statement", "lock", "table", "rows");
    for (const auto& step : steps) {
        text += fmt::format("{:<10}{:<28}{:<6}{:<26}{:<26}{:<30}{}\n", step.node, step.migration,
                            step.line, step.statement, step.lock, step.table, step.rows);
    }
    return text;
}

std::string as_applied(const std::vector<Applied>& files) {
    if (files.empty()) return "the schema is up to date\n";
    std::string text;
    for (const auto& file : files) {
        text += fmt::format("{:<10}{:<28}{} ms\n", file.node, file.migration, file.took_ms);
    }
    return text;
}

ExitCode plan(const Config& config, OutputForm form) {
    const auto files = all_migrations();
    const auto databases = databases_of(config);
    const auto steps = storage::plan_migration(databases, files);
    if (!steps) {
        complain(steps.error().detail());
        return ExitCode::failed;
    }
    std::vector<Planned> shown;
    for (const auto& step : *steps) {
        shown.push_back({.node = step.node,
                         .migration = step.migration + ".sql",
                         .line = step.line,
                         .statement = step.kind,
                         .lock = step.lock,
                         .table = step.table,
                         .rows = step.rows});
    }
    print_items(form, shown, as_plan);
    return ExitCode::ok;
}

ExitCode apply(const Config& config, OutputForm form) {
    const auto applied = migrate_all(config);
    if (!applied) {
        complain(applied.error().detail());
        return ExitCode::failed;
    }
    std::vector<Applied> shown;
    for (const auto& file : *applied) {
        shown.push_back({.node = file.node,
                         .migration = file.migration + ".sql",
                         .took_ms = file.took.count(),
                         .attempts = file.attempts});
    }
    print_items(form, shown, as_applied);
    return ExitCode::ok;
}

}  // namespace

ExitCode run_migrate(const Sources& sources, const MigrateCommand& command) {
    const auto config = load_for_tools(sources);
    if (!config) {
        complain(config.error().detail());
        return ExitCode::failed;
    }
    return command.plan ? plan(*config, command.form) : apply(*config, command.form);
}

}  // namespace tenon::app
