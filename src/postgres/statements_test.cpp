#include "postgres/statements.hpp"

#include <gtest/gtest.h>

namespace tenon::postgres {
namespace {

TEST(Statements, NumberATextOnce) {
    Statements statements;
    static constexpr const char* one = "select 1";
    const std::uint32_t number = statements.number_of({{one}, {}});
    EXPECT_EQ(statements.number_of({{one}, {}}), number);
    EXPECT_EQ(statements.size(), 1U);
    EXPECT_EQ(statements[number].text, "select 1");
}

TEST(Statements, GiveEqualTextsAtTwoAddressesOneNumber) {
    Statements statements;
    const std::string first = "select 2";
    const std::string second = "select 2";
    EXPECT_EQ(statements.number_of({{first.c_str()}, {}}),
              statements.number_of({{second.c_str()}, {}}));
}

TEST(Statements, TellTextsApartThatUsedOneAddress) {
    Statements statements;
    std::string text = "select 3";
    const std::uint32_t three = statements.number_of({{text.c_str()}, {}});
    text.back() = '4';
    const std::uint32_t four = statements.number_of({{text.c_str()}, {}});
    EXPECT_NE(three, four);
    EXPECT_EQ(statements[three].text, "select 3");
    EXPECT_EQ(statements[four].text, "select 4");
}

TEST(Statements, TellTypesOfValuesApart) {
    Statements statements;
    static constexpr const char* text = "select $1";
    const std::uint32_t number = statements.number_of({{text}, Parameters::of(std::int64_t{1})});
    const std::uint32_t word = statements.number_of({{text}, Parameters::of("one")});
    EXPECT_NE(number, word);
    EXPECT_EQ(statements.number_of({{text}, Parameters::of(std::int64_t{2})}), number);
    EXPECT_EQ(statements[number].types, std::vector<Oid>{oid::int8});
}

}  // namespace
}  // namespace tenon::postgres
