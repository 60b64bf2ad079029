#include "postgres/failure.hpp"

#include <fmt/format.h>

namespace tenon::postgres {

namespace {

runtime::Advice advice_for(std::string_view sqlstate) {
    if (sqlstate.starts_with("22") || sqlstate.starts_with("23")) return runtime::Advice::split;
    if (sqlstate == "40001" || sqlstate == "40P01") return runtime::Advice::repeat;
    // A statement that was cancelled or met its timeout, a lock that did not come in time, and a
    // server that is short of something (class 53) or may not write at present.
    const bool passing = sqlstate == "57014" || sqlstate == "55P03" || sqlstate == "25006" ||
                         sqlstate.starts_with("53");
    return passing ? runtime::Advice::later : runtime::Advice::give_up;
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
