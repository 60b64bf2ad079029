#include "postgres/spans.hpp"

#include <algorithm>

#include "postgres/failure.hpp"
#include "runtime/report.hpp"

namespace tenon::postgres {

namespace {

constexpr std::size_t text_shown_max = 1'024;
constexpr std::size_t operation_length_max = 32;

bool is_space(char c) {
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

std::string_view without_lead(std::string_view sql) {
    const auto* const begin = std::ranges::find_if_not(sql, is_space);
    return sql.substr(static_cast<std::size_t>(begin - sql.begin()));
}

}  // namespace

std::string operation_of(std::string_view sql) {
    std::string word;
    for (const char c : without_lead(sql).substr(0, operation_length_max)) {
        const bool small = c >= 'a' && c <= 'z';
        if (!small && (c < 'A' || c > 'Z')) break;
        word += small ? static_cast<char>(c - 'a' + 'A') : c;
    }
    return word;
}

runtime::Span begin_span(const runtime::Call& call, const std::vector<Query>& queries) {
    if (!call.trace.sampled) return {};
    // BEGIN goes ahead of a transaction's first statement; the last one is what was asked for.
    const std::string_view sql = queries.back().statement.sql;
    const bool is_batch = queries.size() > 1;
    const std::string operation = (is_batch ? "BATCH " : "") + operation_of(sql);
    runtime::Span span(call, runtime::SpanKind::client, operation);
    span.set("db.system.name", "postgresql");
    span.set("db.operation.name", operation);
    if (is_batch) {
        span.set("db.operation.batch.size", static_cast<std::int64_t>(queries.size()));
    } else {
        span.set("db.query.text", without_lead(sql).substr(0, text_shown_max));
    }
    return span;
}

std::string failure_for_trace(const std::exception_ptr& failure) {
    try {
        std::rethrow_exception(failure);
    } catch (const QueryFailed& refused) {
        const auto& report = refused.report();
        std::string text = "SQLSTATE " + report.sqlstate;
        if (!report.constraint.empty()) text += ", constraint " + report.constraint;
        return text;
    } catch (...) {
        return runtime::describe_failure(failure);
    }
}

}  // namespace tenon::postgres
