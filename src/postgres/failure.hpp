// What PostgreSQL refused, by SQLSTATE.
#pragma once

#include <string>
#include <string_view>

#include "runtime/failure.hpp"

namespace tenon::postgres {

/// A statement failed on the server; nothing of its transaction happened.
///
/// advice(): split for classes 22 and 23, repeat for 40001 and 40P01, later for what passes (57014,
/// 55P03, 25006, class 53), else give_up.
class QueryFailed final : public runtime::Failure {
public:
    struct Report {
        std::string sqlstate;
        std::string message;
        std::string detail;
        std::string hint;
        std::string constraint;
        std::string statement;  ///< first 200 bytes of the SQL
    };
    explicit QueryFailed(Report report);
    [[nodiscard]] const Report& report() const { return report_; }
    [[nodiscard]] bool is(std::string_view sqlstate) const { return report_.sqlstate == sqlstate; }

private:
    Report report_;
};

}  // namespace tenon::postgres
