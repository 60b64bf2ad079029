// One numbered step of the schema, embedded into the program by cmake/Migrations.cmake.
#pragma once

#include <span>
#include <string_view>

namespace tenon::storage {

/// One file of a room's migrations/.
///
/// Shape: `number` counts from 1 without gaps within its room. A file that begins with the line
///        `-- tenon: no-transaction` runs statement by statement outside of a transaction, so each
///        of its statements must bear to be repeated.
/// Owns:  nothing; the texts are in the program.
struct Migration {
    std::string_view room;
    int number = 0;
    std::string_view name;  ///< what it makes: the file's name without number and suffix
    std::string_view sql;
};

/// The migrations of this room; those of others are functions of the same name in theirs.
std::span<const Migration> migrations();

}  // namespace tenon::storage
