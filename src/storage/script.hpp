// SQL scripts taken apart: where a statement ends, what it locks, which table it touches.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tenon::storage {

/// One statement of a script.
struct Step {
    std::string_view sql;  ///< without the semicolon, without comments before it
    int line = 1;          ///< where it begins, from 1
};

/// The statements of a script, in order.
///
/// Shape: semicolons inside of quotes, dollar quotes, E'' strings and (nested) comments end
/// nothing;
///        what is left open reaches to the end. Empty statements are left out.
/// Owns:  nothing; views into `script`.
/// Cost:  one pass.
[[nodiscard]] std::vector<Step> split_script(std::string_view script);

/// True when the script's first line is `-- tenon: no-transaction`.
[[nodiscard]] bool runs_outside_transaction(std::string_view script);

/// What a statement does to those who use the database at the same time.
struct Footprint {
    std::string_view kind;  ///< "CREATE INDEX CONCURRENTLY", "ALTER TABLE", ...; empty: not known
    std::string_view lock;  ///< on the table, in PostgreSQL's words; "none" for what is new
    std::string table;      ///< as written in the statement; empty when it names none
};

/// Judges a statement by its first words.
///
/// Shape:  ALTER TABLE counts as its strongest form, apart from VALIDATE CONSTRAINT, ATTACH
///         PARTITION and SET STATISTICS. A statement that calls functions (SELECT, DO) is judged
///         as "depends on what it calls".
/// Source: PostgreSQL's manual, 13.3.1 (table-level locks).
[[nodiscard]] Footprint footprint_of(std::string_view sql);

/// The index that CREATE INDEX CONCURRENTLY names; empty for any other statement or without name.
[[nodiscard]] std::string concurrent_index_of(std::string_view sql);

}  // namespace tenon::storage
