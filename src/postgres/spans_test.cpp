#include "postgres/spans.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace tenon::postgres
