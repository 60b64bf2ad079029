#include "postgres/failure.hpp"

#include <fmt/format.h>

namespace tenon::postgres {

namespace {

runtime::Advice advice_for(std::string_view sqlstate) {
    if (sqlstate.starts_with("22") || sqlstate.starts_with("23")) return runtime::Advice::split;
    if (sqlstate == "40001" || sqlstate == "40P01") return runtime::Advice::repeat;
    return runtime::Advice::give_up;
}

std::string sentence_of(const QueryFailed::Report& report) {
    std::string sentence = fmt::format("PostgreSQL refused a statement: {} (SQLSTATE {}",
                                       report.message, report.sqlstate);
    if (!report.constraint.empty()) sentence += ", constraint " + report.constraint;
    sentence += ')';
    if (!report.statement.empty()) sentence += " in: " + report.statement;
    return sentence;
}

}  // namespace

QueryFailed::QueryFailed(Report report)
    : Failure(sentence_of(report), advice_for(report.sqlstate)), report_(std::move(report)) {}

}  // namespace tenon::postgres
