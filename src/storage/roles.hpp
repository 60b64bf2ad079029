// The rights of the role that serves.
#pragma once

#include <span>
#include <string>

#include "base/result.hpp"
#include "storage/migration.hpp"
#include "storage/session.hpp"

namespace tenon::storage {

/// Gives a role what `serve` needs and no more: reading and writing rows and calling functions in
/// the schemas of `files`; it can change no schema and delete no table.
///
/// Expects: a session of the owner, to a migrated database; a role that exists.
/// Errors:  storage.no_role when there is none of that name; those of Session.
[[nodiscard]] base::Result<> grant_serving(Session& session, std::span<const Migration> files,
                                           const std::string& role);

}  // namespace tenon::storage
