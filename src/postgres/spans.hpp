// What a trace is told of a round trip to PostgreSQL.
#pragma once

#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "postgres/query.hpp"
#include "runtime/call.hpp"
#include "runtime/span.hpp"

namespace tenon::postgres {

/// The first word of a statement in capitals, which says what it does: "SELECT", "WITH".
[[nodiscard]] std::string operation_of(std::string_view sql);

/// A span for statements that travel together, as a child of what `call` runs.
///
/// Shape:   values are never in it; the text of a lone statement is, at most 1,024 bytes of it.
/// Expects: `queries` is not empty.
/// Cost:    one branch where the call is not sampled.
/// Source:  OpenTelemetry's semantic conventions for database spans.
[[nodiscard]] runtime::Span begin_span(const runtime::Call& call,
                                       const std::vector<Query>& queries);

/// What a trace is told of a failure: of a refused statement SQLSTATE and constraint alone, since
/// PostgreSQL's message may quote values.
[[nodiscard]] std::string failure_for_trace(const std::exception_ptr& failure);

}  // namespace tenon::postgres
