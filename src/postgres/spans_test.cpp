#include "postgres/spans.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "postgres/failure.hpp"

namespace tenon::postgres {
namespace {

TEST(Operation, IsTheFirstWordInCapitals) {
    EXPECT_EQ(operation_of("SELECT 1"), "SELECT");
    EXPECT_EQ(operation_of("\n  with x AS (SELECT 1)"), "WITH");
    EXPECT_EQ(operation_of("COMMIT"), "COMMIT");
    EXPECT_EQ(operation_of("  "), "");
    EXPECT_EQ(operation_of("(SELECT 1)"), "");
    EXPECT_EQ(operation_of(std::string(100, 'a')).size(), 32U);
}

TEST(FailureForTrace, NamesWhatFailedAndQuotesNoValue) {
    const QueryFailed::Report report{.sqlstate = "23505",
                                     .message = "duplicate key: (code)=(private)",
                                     .detail = "Key (code)=(private) already exists.",
                                     .hint = "",
                                     .constraint = "links_pkey",
                                     .statement = "INSERT INTO links.links"};
    EXPECT_EQ(failure_for_trace(std::make_exception_ptr(QueryFailed(report))),
              "SQLSTATE 23505, constraint links_pkey");
    EXPECT_EQ(failure_for_trace(std::make_exception_ptr(std::runtime_error("it broke"))),
              "it broke");
}

}  // namespace
}  // namespace tenon::postgres
