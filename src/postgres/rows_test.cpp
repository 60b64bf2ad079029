#include "postgres/rows.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <boost/describe/class.hpp>
#include <string>

#include "postgres/parameters.hpp"
#include "postgres/test_result.hpp"

namespace tenon::postgres {
namespace {

using namespace std::string_literals;

struct Pet {
    std::string name;
    std::int32_t age = 0;
    std::optional<bool> tame;
};
BOOST_DESCRIBE_STRUCT(Pet, (), (name, age, tame))

struct Owner {
    std::string name;
};
BOOST_DESCRIBE_STRUCT(Owner, (), (name))

/// What comes back when a value is sent: the encoder's bytes under the type they were sent as.
template <class T>
T echo(const T& value) {
    const Parameters parameters = Parameters::of(value);
    const Oid type = parameters.entries()[0].type;
    const Rows rows = rows_of({{.name = "echo",
                                .type = type == oid::unknown ? oid::text : type,
                                .values = {std::string(parameters.bytes(0))}}});
    return rows.value<T>(0, 0);
}

Rows single(Oid type, std::optional<std::string> bytes) {
    return rows_of({{.name = "v", .type = type, .values = {std::move(bytes)}}});
}

RC_GTEST_PROP(Rows, ReadBackWhatParametersEncode,
              (std::int16_t small, std::int32_t medium, std::int64_t large, bool flag,
               std::vector<std::uint8_t> bytes, std::vector<std::int64_t> numbers)) {
    RC_ASSERT(echo(small) == small);
    RC_ASSERT(echo(medium) == medium);
    RC_ASSERT(echo(large) == large);
    RC_ASSERT(echo(flag) == flag);
    RC_ASSERT(echo(bytes) == bytes);
    RC_ASSERT(echo(numbers) == numbers);
    RC_ASSERT(echo(static_cast<double>(large)) == static_cast<double>(large));
}

RC_GTEST_PROP(Rows, ReadBackArraysWithNulls, (std::vector<std::pair<bool, std::string>> elements)) {
    std::vector<std::optional<std::string>> values;
    for (const auto& [present, text] : elements) {
        values.push_back(present ? std::optional(text) : std::nullopt);
    }
    RC_ASSERT(echo(values) == values);
}

TEST(Rows, ReadBackTimesUpToInfinity) {
    for (const base::Time time :
         {base::Time::max(), base::Time::min(), base::Time(), base::Time(std::chrono::days(20'000)),
          base::Time(-std::chrono::days(300'000))}) {
        EXPECT_EQ(echo(time), time);
    }
}

TEST(Rows, ReadBackUuidsDigestsAndBuckets) {
    const base::Uuid id{{0xab, 1, 2}};
    const base::Digest digest{5, 6};
    EXPECT_EQ(echo(id), id);
    EXPECT_EQ(echo(digest), digest);
    EXPECT_EQ(echo(base::Bucket{77}), base::Bucket{77});
    EXPECT_EQ(echo(std::vector<base::Uuid>{id, {}}), (std::vector<base::Uuid>{id, {}}));
    EXPECT_EQ(echo(std::vector<bool>{true, false}), (std::vector<bool>{true, false}));
}

TEST(Rows, ReadTextInAllItsTypes) {
    for (const Oid type : {25U, 1043U, 1042U, 19U, 114U, 705U, 16'999U}) {
        EXPECT_EQ(single(type, "abc").value<std::string>(0, 0), "abc") << type;
    }
    EXPECT_EQ(single(3802, "\x01{}").value<std::string>(0, 0), "{}");
    EXPECT_THROW((void)single(3802, "\x02{}").value<std::string>(0, 0), std::logic_error);
    EXPECT_THROW((void)single(3802, "").value<std::string>(0, 0), std::logic_error);
}

TEST(Rows, RefuseAnotherTypeAndNameTheColumn) {
    const Rows rows = single(1700, "????");
    try {
        (void)rows.value<std::int64_t>(0, 0);
        FAIL() << "numeric was read as int8";
    } catch (const std::logic_error& refused) {
        EXPECT_STREQ(refused.what(),
                     "column \"v\" is of PostgreSQL type 1700, not int8; cast it in the statement");
    }
    EXPECT_THROW((void)single(23, "1234").value<std::int64_t>(0, 0), std::logic_error);
    EXPECT_THROW((void)single(20, "1234").value<std::int64_t>(0, 0), std::logic_error);
    EXPECT_THROW((void)single(17, "short").value<base::Digest>(0, 0), std::logic_error);
    EXPECT_THROW((void)single(1184, "\x7f\xff\xff\xff\xff\xff\xff\x00"s).value<base::Time>(0, 0),
                 std::logic_error);
}

TEST(Rows, RefuseNullUnlessItIsOptional) {
    const Rows rows = single(23, std::nullopt);
    EXPECT_THROW((void)rows.value<std::int32_t>(0, 0), std::logic_error);
    EXPECT_EQ(rows.value<std::optional<std::int32_t>>(0, 0), std::nullopt);
    EXPECT_THROW((void)single(1007, std::nullopt).value<std::vector<std::int32_t>>(0, 0),
                 std::logic_error);
    EXPECT_EQ(single(1007, std::nullopt).value<std::optional<std::vector<std::int32_t>>>(0, 0),
              std::nullopt);
}

TEST(Rows, RefuseArraysThatAreCutOff) {
    const Parameters parameters = Parameters::of(std::vector<std::int32_t>{1, 2, 3});
    const std::string whole(parameters.bytes(0));
    for (std::size_t length = 0; length < whole.size(); ++length) {
        EXPECT_THROW(
            (void)single(1007, whole.substr(0, length)).value<std::vector<std::int32_t>>(0, 0),
            std::logic_error)
            << length;
    }
    std::string two_dimensions = whole;
    two_dimensions[3] = 2;
    EXPECT_THROW((void)single(1007, two_dimensions).value<std::vector<std::int32_t>>(0, 0),
                 std::logic_error);
}

TEST(Rows, MapColumnsToMembersByName) {
    const Rows rows = rows_of({{"tame", 16, {"\x01"s, std::nullopt}},
                               {"other", 25, {"", ""}},
                               {"age", 23, {"\0\0\0\x03"s, "\0\0\0\x04"s}},
                               {"name", 25, {"Rex", "Tom"}}});
    const std::vector<Pet> pets = rows.all<Pet>();
    ASSERT_EQ(pets.size(), 2U);
    EXPECT_EQ(pets[0].name, "Rex");
    EXPECT_EQ(pets[0].age, 3);
    EXPECT_EQ(pets[0].tame, true);
    EXPECT_EQ(pets[1].name, "Tom");
    EXPECT_EQ(pets[1].tame, std::nullopt);
    // Another type asked of the same rows finds its own columns.
    EXPECT_EQ(rows.as<Owner>(1).name, "Tom");
    EXPECT_EQ(rows.as<Pet>(1).age, 4);
}

TEST(Rows, RefuseAStructWithoutItsColumn) {
    const Rows rows = rows_of({{"nom", 25, {"Rex"}}});
    EXPECT_THROW((void)rows.as<Owner>(0), std::logic_error);
}

TEST(Rows, AreEmptyByDefault) {
    const Rows rows;
    EXPECT_TRUE(rows.empty());
    EXPECT_EQ(rows.affected(), 0U);
    EXPECT_EQ(rows.command(), "");
}

}  // namespace
}  // namespace tenon::postgres
