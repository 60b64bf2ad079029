// Errors as clients see them: problem+json.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "http/message.hpp"
#include "runtime/call.hpp"

namespace tenon::http {

/// What precedes the slug in a problem's `type`.
inline constexpr std::string_view problem_base = "https://tenon.dev/problems/";

/// The status of an error: by its kind, but for the few of this room that have one of their own.
[[nodiscard]] int status_of(const base::ErrorType& type);

/// Fills `response` with the problem and, where a wait is known, Retry-After. Headers that are
/// already there stay.
///
/// Shape:  {type, title, status, detail, errors: [{pointer | parameter, expected}], trace_id}.
/// Source: RFC 9457.
void render_problem(const base::Error& error, const runtime::Trace& trace, Response& response);

/// 32 hexadecimal digits.
[[nodiscard]] std::string format_trace_id(const runtime::Trace& trace);

}  // namespace tenon::http
