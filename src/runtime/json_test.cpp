#include "runtime/json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <boost/json.hpp>
#include <limits>

#include "runtime/errors.hpp"

namespace tenon::runtime {

enum class Colour { red, deep_blue, delete_ };
BOOST_DESCRIBE_ENUM(Colour, red, deep_blue, delete_)

namespace {

using ::testing::HasSubstr;

struct Point {
    std::int32_t x = 0;
    double weight = 0;
    bool operator==(const Point&) const = default;
};
BOOST_DESCRIBE_STRUCT(Point, (), (x, weight))

struct Thing {
    std::string name;
    bool on = false;
    std::uint64_t size = 0;
    std::int64_t change = 0;
    Colour colour = Colour::red;
    base::Time at;
    std::optional<std::string> note;
    std::vector<Point> points;
    std::map<std::string, std::int8_t> marks;
    bool operator==(const Thing&) const = default;
};
BOOST_DESCRIBE_STRUCT(Thing, (), (name, on, size, change, colour, at, note, points, marks))

struct Special : Point {
    std::string default_;
};
BOOST_DESCRIBE_STRUCT(Special, (Point), (default_))

struct Change {
    Patch<std::string> note;
    Patch<std::int32_t> count;
    bool operator==(const Change&) const = default;
};
BOOST_DESCRIBE_STRUCT(Change, (), (note, count))

struct One {
    std::vector<std::string> tags;
    std::int64_t count = 0;
    std::optional<std::string> url;
    std::uint8_t small = 0;
};
BOOST_DESCRIBE_STRUCT(One, (), (tags, count, url, small))

template <class T>
struct Narrow : NoBounds<T> {};
template <>
struct Narrow<One> {
    static constexpr MemberBounds of(std::string_view member) {
        if (member == "tags") return {.length_max = 2, .item_length_max = 3};
        if (member == "count") return {.minimum = 1, .maximum = 100};
        if (member == "url") return {.length_max = 4};
        if (member == "small") return {.minimum = -5, .maximum = 1'000};
        return {};
    }
};

const std::string thing_json =
    R"({"name":"a \"b\"\n","on":true,"size":18446744073709551615,"change":-9223372036854775808,)"
    R"("colour":"deep_blue","at":"2026-11-30T15:44:26Z","points":[{"x":-1,"weight":0.1}],)"
    R"("marks":{"k":-128}})";

// "pointer: expected" of every refused field.
template <class T>
std::vector<std::string> refusals(const base::Result<T>& result) {
    if (result) return {"nothing was refused"};
    std::vector<std::string> all;
    for (const base::FieldError& field : result.error().fields()) {
        all.push_back(field.pointer + ": " + field.expected);
    }
    if (all.empty()) all.push_back(result.error().detail());
    return all;
}

TEST(Json, WritesEveryKindOfMemberAndReadsItBack) {
    const auto thing = from_json<Thing>(thing_json);
    ASSERT_TRUE(thing) << thing.error().detail();
    EXPECT_EQ(thing->name, "a \"b\"\n");
    EXPECT_EQ(thing->size, std::numeric_limits<std::uint64_t>::max());
    EXPECT_EQ(thing->colour, Colour::deep_blue);
    EXPECT_EQ(thing->note, std::nullopt);
    EXPECT_EQ(thing->points.at(0).weight, 0.1);
    EXPECT_EQ(to_json(*thing), thing_json);
}

TEST(Json, EmptyOptionalsAreLeftOutAndNullIsEmpty) {
    One one;
    EXPECT_EQ(to_json(one), R"({"tags":[],"count":0,"small":0})");
    one.url = "";
    EXPECT_EQ(to_json(one), R"({"tags":[],"count":0,"url":"","small":0})");
    EXPECT_EQ(from_json<One>(R"({"tags":[],"count":0,"url":null,"small":0})")->url, std::nullopt);
}

TEST(Json, BasesComeFirstAndATrailingUnderscoreIsLeftOut) {
    Special special;
    special.default_ = "x";
    EXPECT_EQ(to_json(special), R"({"x":0,"weight":0,"default":"x"})");
    EXPECT_EQ(from_json<Special>(to_json(special))->default_, "x");
    EXPECT_EQ(to_json(std::vector{Colour::delete_}), R"(["delete"])");
}

TEST(Json, PatchTellsAbsentFromNullFromValue) {
    const auto change = from_json<Change>(R"({"note":null})");
    ASSERT_TRUE(change);
    EXPECT_TRUE(change->note.is_null());
    EXPECT_TRUE(change->count.is_absent());
    EXPECT_EQ(to_json(*change), R"({"note":null})");
    const auto value = from_json<Change>(R"({"count":7})");
    ASSERT_TRUE(value->count.has_value());
    EXPECT_EQ(value->count.value(), 7);
    EXPECT_EQ(refusals(from_json<Change>(R"({"count":"x"})")).front(),
              "/count: an integer from -2147483648 to 2147483647");
    std::optional<std::string> note = "old";
    value->note.apply_to(note);
    EXPECT_EQ(note, "old");
    change->note.apply_to(note);
    EXPECT_EQ(note, std::nullopt);
    Patch<std::string>("new").apply_to(note);
    EXPECT_EQ(note, "new");
}

TEST(Json, EveryRefusedFieldIsNamedWithWhatWasExpected) {
    const auto thing = from_json<Thing>(
        R"({"name":1,"on":"yes","size":-1,"change":1.5,"colour":"green","at":"yesterday",)"
        R"("note":[],"points":[{"x":1,"weight":"w"},{"x":9999999999,"weight":1},7],)"
        R"("marks":{"a/b~c":200},"nmae":"x","zzzzzzzz":0})");
    const std::vector<std::string> expected{
        "/name: a string",
        "/on: true or false",
        "/size: an integer from 0 to 18446744073709551615",
        "/change: an integer within 64 bits",
        "/colour: one of: red, deep_blue, delete",
        "/at: a time by RFC 3339, such as 2026-11-30T15:44:26Z",
        "/note: a string",
        "/points/0/weight: a number",
        "/points/1/x: an integer from -2147483648 to 2147483647",
        "/points/2: an object",
        "/marks/a~1b~0c: an integer from -128 to 127",
        "/nmae: no such member; did you mean \"name\"?",
        "/zzzzzzzz: no such member; there are: name, on, size, change, colour, at, note, points, "
        "marks"};
    EXPECT_EQ(refusals(thing), expected);
    EXPECT_TRUE(thing.error().is(errors::json_mismatch));
    EXPECT_EQ(thing.error().detail(), "/name: expected a string. 12 more.");
}

TEST(Json, MissingMembersAreNamedUnlessTheyAreOptional) {
    EXPECT_EQ(
        refusals(from_json<One>("{}")),
        (std::vector<std::string>{"/tags: an array; it is required and missing",
                                  "/count: an integer within 64 bits; it is required and missing",
                                  "/small: an integer from 0 to 255; it is required and missing"}));
    EXPECT_EQ(refusals(from_json<One>("[]")), std::vector<std::string>{": an object"});
}

TEST(Json, BoundsComeFromOutside) {
    const auto one = from_json<One, Narrow>(
        R"({"tags":["abcd","\u00e4\u00e4\u00e4","c"],"count":101,"url":"12345","small":256})");
    EXPECT_EQ(refusals(one),
              (std::vector<std::string>{
                  "/tags: an array of at most 2 items", "/count: an integer from 1 to 100",
                  "/url: a string of at most 4 characters", "/small: an integer from 0 to 255"}));
    EXPECT_EQ(refusals(from_json<One, Narrow>(
                  R"({"tags":["abcd","\u00e4\u00e4\u00e4"],"count":100,"url":"1234","small":1})")),
              std::vector<std::string>{"/tags/0: a string of at most 3 characters"});
}

TEST(Json, DuplicatesAreRefusedAtAnyDepth) {
    EXPECT_EQ(refusals(from_json<Point>(R"({"x":1,"weight":1,"x":2})")),
              std::vector<std::string>{"/x: a member that is there only once"});
    EXPECT_EQ(refusals(canonical_json(R"([{"a":1,"b":2,"\u0061":3}])")),
              std::vector<std::string>{"/0/a: a member that is there only once"});
}

TEST(Json, NulIsRefusedInValuesAndNames) {
    EXPECT_EQ(refusals(from_json<std::vector<std::string>>(R"(["a","b\u0000c"])")),
              std::vector<std::string>{"/1: a string without U+0000"});
    EXPECT_THAT(refusals(canonical_json(R"({"a\u0000":1})")).front(),
                HasSubstr("a name without U+0000"));
}

TEST(Json, NumbersBeyondTheirMachineTypesAreRefused) {
    using Doubles = std::vector<double>;
    EXPECT_EQ(refusals(from_json<Doubles>("[18446744073709551616]")).front(),
              "/0: an integer within 64 bits");
    EXPECT_EQ(refusals(from_json<Doubles>("[1e400]")).front(),
              "/0: a number within the range of a 64-bit floating point number");
    EXPECT_EQ(from_json<Doubles>("[1e308, 5e-324, 3]")->at(1), 5e-324);
    using Integers = std::vector<std::int64_t>;
    EXPECT_EQ(refusals(from_json<Integers>("[1.0,1e2,9223372036854775808]")).size(), 3U);
    EXPECT_EQ(from_json<std::vector<std::uint8_t>>("[-0,255]")->at(1), 255);
}

TEST(Json, WhatIsNotJsonIsRefusedWithItsByte) {
    for (const char* text : {"", " ", "{", "{}x", "[1,]", "{'a':1}", "nul", "01", "\"\\ud800\"",
                             "\"\\udc00\"", "\"\\ud800\\u0041\"", "\"\xff\"", "\"\xc0\x80\"",
                             "\"\xed\xa0\x80\"", "[NaN]", "\"\n\"", "// c\n1", "\xef\xbb\xbf{}"}) {
        const auto result = canonical_json(text);
        ASSERT_FALSE(result) << text;
        EXPECT_TRUE(result.error().is(errors::json_invalid)) << text;
        EXPECT_THAT(result.error().detail(), HasSubstr("at byte ")) << text;
    }
    EXPECT_THAT(canonical_json("[1,]").error().detail(), HasSubstr("at byte 3 of 4"));
}

TEST(Json, NestingEndsAtThirtyTwo) {
    const auto nested = [](std::size_t depth) {
        return std::string(depth, '[') + std::string(depth, ']');
    };
    EXPECT_TRUE(canonical_json(nested(32)));
    EXPECT_FALSE(canonical_json(nested(33)));
    EXPECT_FALSE(canonical_json(nested(100'000)));
}

TEST(Json, AHundredErrorsAreEnough) {
    std::string text = "[";
    for (int i = 0; i < 500; ++i) text += "\"x\",";
    EXPECT_EQ(refusals(from_json<std::vector<int>>(text + "1]")).size(), 100U);
}

TEST(Json, HostileNamesAndCountsMakeNoLongAnswer) {
    const std::string name(100'000, 'n');
    std::string text = "{\"" + name + "\":[";
    for (int i = 0; i < 500; ++i) text += "\"\\u0000\",";
    for (const std::string& refusal : refusals(from_json<Point>(text + "1]}"))) {
        EXPECT_LT(refusal.size(), 200U);
    }
    text = "{";
    for (int i = 0; i < 50'000; ++i) text += "\"member_" + std::to_string(i) + "\":1,";
    EXPECT_EQ(refusals(from_json<Thing>(text + "\"x\":1}")).size(), 100U);
}

TEST(Json, CanonicalTextIsTheSameForTheSameMeaning) {
    EXPECT_EQ(*canonical_json(R"( { "b" : [ 1.0 , 1e2, -0, -0.0, 0.10, 1e300 ], "a" : null } )"),
              R"({"a":null,"b":[1,100,0,0,0.1,1e+300]})");
    EXPECT_EQ(*canonical_json(R"({"\u00e9":"\u0041\/\t","B":true,"a":false})"),
              "{\"B\":true,\"a\":false,\"\xc3\xa9\":\"A/\\t\"}");
    EXPECT_NE(*canonical_json("9007199254740993"), *canonical_json("9007199254740992"));
}

RC_GTEST_PROP(Json, AnyStringSurvivesWritingAndAnotherParser, (const std::string& bytes)) {
    const std::string text = to_json(std::vector{bytes});
    const std::string read(boost::json::parse(text).as_array().at(0).as_string());
    // Equal when the bytes were UTF-8; otherwise writing has made them so, once.
    RC_ASSERT(to_json(std::vector{read}) == text);
}

RC_GTEST_PROP(Json, EveryDoubleReadsBackAsItself, (std::uint64_t bits)) {
    const auto value = std::bit_cast<double>(bits);
    RC_PRE(std::isfinite(value));
    const auto read = from_json<std::vector<double>>(to_json(std::vector{value}));
    RC_ASSERT(read.has_value());
    RC_ASSERT(std::bit_cast<std::uint64_t>(read->at(0)) == bits || value == 0.0);
}

RC_GTEST_PROP(Json, EveryIntegerReadsBackAsItself, (std::int64_t a, std::uint64_t b)) {
    RC_ASSERT(from_json<std::vector<std::int64_t>>(to_json(std::vector{a})).value().at(0) == a);
    RC_ASSERT(from_json<std::vector<std::uint64_t>>(to_json(std::vector{b})).value().at(0) == b);
}

}  // namespace
}  // namespace tenon::runtime
