#include "storage/record.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/hash.hpp"
#include "storage/errors.hpp"

namespace tenon::storage {

namespace {

std::string title_of(const RecordedMigration& recorded) {
    return fmt::format("{}/{:04}_{}", recorded.room, recorded.number, recorded.name);
}

int to_int(const std::string& text) {
    int number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

}  // namespace

std::string title_of(const Migration& migration) {
    return fmt::format("{}/{:04}_{}", migration.room, migration.number, migration.name);
}

std::string checksum_of(const Migration& migration) {
    return base::to_hex(base::sha256(migration.sql));
}

SchemaState compare_record(std::string node, std::span<const Migration> files,
                           const std::vector<RecordedMigration>& recorded) {
    SchemaState state;
    state.node = std::move(node);
    for (const Migration& file : files) {
        const auto found = std::ranges::find_if(recorded, [&](const RecordedMigration& row) {
            return row.room == file.room && row.number == file.number;
        });
        if (found == recorded.end()) {
            state.pending.push_back(file);
        } else if (found->checksum != checksum_of(file)) {
            state.changed.push_back(title_of(file));
        }
    }
    for (const RecordedMigration& row : recorded) {
        const bool known = std::ranges::any_of(files, [&](const Migration& file) {
            return row.room == file.room && row.number == file.number;
        });
        if (!known) {
            state.unknown.push_back(title_of(row));
        }
    }
    return state;
}

base::Result<> allow_migration(const SchemaState& state) {
    if (!state.changed.empty()) {
        return base::fail(errors::migration_changed,
                          fmt::format("Node {} has {} applied with another text than this program "
                                      "carries. Put the applied text back and add a new migration "
                                      "for the change.",
                                      state.node, fmt::join(state.changed, ", ")));
    }
    if (!state.unknown.empty()) {
        return base::fail(errors::schema_ahead,
                          fmt::format("Node {} has {}, which this program does not know. Use the "
                                      "newer program that applied it.",
                                      state.node, fmt::join(state.unknown, ", ")));
    }
    return {};
}

base::Result<> allow_serving(const SchemaState& state) {
    if (!state.unreachable.empty()) {
        return {};
    }
    if (auto allowed = allow_migration(state); !allowed) {
        return allowed;
    }
    if (state.pending.empty()) {
        return {};
    }
    std::vector<std::string> titles;
    titles.reserve(state.pending.size());
    for (const Migration& migration : state.pending) {
        titles.push_back(title_of(migration));
    }
    return base::fail(errors::schema_behind,
                      fmt::format("Node {} lacks {}. Run `tenon migrate` first.", state.node,
                                  fmt::join(titles, ", ")));
}

std::vector<RecordedMigration> read_record(Session& session) {
    if (session.value("SELECT to_regclass('tenon.migrations') IS NOT NULL") != "t") {
        return {};
    }
    std::vector<RecordedMigration> recorded;
    for (const TextRow& row : session.run(R"(
            SELECT room, number, name, encode(checksum, 'hex')
            FROM tenon.migrations  -- migrations_pkey
            ORDER BY room, number)")) {
        recorded.push_back({.room = row[0].value_or(""),
                            .number = to_int(row[1].value_or("0")),
                            .name = row[2].value_or(""),
                            .checksum = row[3].value_or("")});
    }
    return recorded;
}

}  // namespace tenon::storage
