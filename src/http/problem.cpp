#include "http/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/hash.hpp"
#include "http/errors.hpp"
#include "runtime/json_text.hpp"

namespace tenon::http {

namespace {

using base::Kind;

// Statuses that say more than their kind.
constexpr std::array<std::pair<const base::ErrorType*, int>, 9> particular{{
    {&errors::header_too_large, 431},
    {&errors::target_too_long, 414},
    {&errors::version_unsupported, 505},
    {&errors::coding_unsupported, 501},
    {&errors::expectation_unsupported, 417},
    {&errors::request_timeout, 408},
    {&errors::method_not_allowed, 405},
    {&errors::deadline_exceeded, 504},
    {&errors::internal, 500},
}};

int status_of(Kind kind) {
    switch (kind) {
        case Kind::invalid:
            return 400;
        case Kind::unauthenticated:
            return 401;
        case Kind::forbidden:
            return 403;
        case Kind::not_found:
            return 404;
        case Kind::conflict:
            return 409;
        case Kind::gone:
            return 410;
        case Kind::too_large:
            return 413;
        case Kind::unsupported:
            return 415;
        case Kind::unprocessable:
            return 422;
        case Kind::rate_limited:
            return 429;
        case Kind::unavailable:
            return 503;
    }
    return 500;
}

void append_member(std::string& out, std::string_view name, std::string_view value) {
    if (out.back() != '{') out.push_back(',');
    runtime::append_json_string(out, name);
    out.push_back(':');
    runtime::append_json_string(out, value);
}

void append_fields(std::string& out, const std::vector<base::FieldError>& fields) {
    if (fields.empty()) return;
    out.append(",\"errors\":[");
    for (const base::FieldError& field : fields) {
        if (out.back() != '[') out.push_back(',');
        out.push_back('{');
        const bool in_body = field.pointer.empty() || field.pointer.front() == '/';
        append_member(out, in_body ? "pointer" : "parameter", field.pointer);
        append_member(out, "expected", field.expected);
        out.push_back('}');
    }
    out.push_back(']');
}

}  // namespace

int status_of(const base::ErrorType& type) {
    const auto* const found =
        std::ranges::find(particular, &type, [](const auto& one) { return one.first; });
    return found != particular.end() ? found->second : status_of(type.kind);
}

void render_problem(const base::Error& error, const runtime::Trace& trace, Response& response) {
    const int status = status_of(error.type());
    std::string body = "{";
    append_member(body, "type", std::string(problem_base).append(error.type().slug));
    append_member(body, "title", error.type().title);
    fmt::format_to(std::back_inserter(body), ",\"status\":{}", status);
    append_member(body, "detail", error.detail());
    append_fields(body, error.fields());
    append_member(body, "trace_id", format_trace_id(trace));
    body.push_back('}');
    response.set_status(status);
    if (error.retry_after().count() > 0) {
        response.add_header("Retry-After", std::to_string(error.retry_after().count()));
    }
    response.set_body("application/problem+json", body);
}

std::string format_trace_id(const runtime::Trace& trace) {
    return base::to_hex(trace.trace_id);
}

}  // namespace tenon::http
