// What a failed result of libpq says.
#pragma once

#include <libpq-fe.h>

#include <exception>
#include <string>

#include "postgres/failure.hpp"

namespace tenon::postgres {

/// The report of a failed statement; `sql` is cut to its first 200 bytes.
[[nodiscard]] QueryFailed::Report report_of(const PGresult* result, const char* sql);

/// True when the session ends with this result: FATAL, PANIC, class 08, 57P01 to 57P03, and
/// failures that libpq itself found.
[[nodiscard]] bool ends_session(const PGresult* result);

/// True when the prepared statement is gone (26000) or its plan no longer fits (0A000 from the
/// plan cache): prepare it anew.
[[nodiscard]] bool is_stale_plan(const PGresult* result);

}  // namespace tenon::postgres
