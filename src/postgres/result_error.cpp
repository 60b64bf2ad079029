#include "postgres/result_error.hpp"

#include <string_view>

namespace tenon::postgres {

namespace {

constexpr std::size_t statement_bytes_max = 200;

std::string_view field(const PGresult* result, int code) {
    const char* text = PQresultErrorField(result, code);
    return text ? text : "";
}

}  // namespace

QueryFailed::Report report_of(const PGresult* result, const char* sql) {
    return {.sqlstate = std::string(field(result, PG_DIAG_SQLSTATE)),
            .message = std::string(field(result, PG_DIAG_MESSAGE_PRIMARY)),
            .detail = std::string(field(result, PG_DIAG_MESSAGE_DETAIL)),
            .hint = std::string(field(result, PG_DIAG_MESSAGE_HINT)),
            .constraint = std::string(field(result, PG_DIAG_CONSTRAINT_NAME)),
            .statement = std::string(std::string_view(sql).substr(0, statement_bytes_max))};
}

bool ends_session(const PGresult* result) {
    const std::string_view state = field(result, PG_DIAG_SQLSTATE);
    const std::string_view severity = field(result, PG_DIAG_SEVERITY_NONLOCALIZED);
    return state.empty() || severity == "FATAL" || severity == "PANIC" || state.starts_with("08") ||
           state == "57P01" || state == "57P02" || state == "57P03";
}

bool is_stale_plan(const PGresult* result) {
    const std::string_view state = field(result, PG_DIAG_SQLSTATE);
    // The sentence is translated by lc_messages, the function's name is not.
    return state == "26000" ||
           (state == "0A000" && field(result, PG_DIAG_SOURCE_FUNCTION) == "RevalidateCachedQuery");
}

}  // namespace tenon::postgres
