// Every type through a real server and back.
#include <gtest/gtest.h>

#include <boost/describe/class.hpp>

#include "postgres/test_pool.hpp"

namespace tenon::postgres {
namespace {

using namespace std::string_literals;
using std::chrono::microseconds;

template <class T>
void expect_round_trip(TestPool& pool, const char* sql, const T& value) {
    const Rows rows = pool.query(sql, Parameters::of(value));
    ASSERT_EQ(rows.size(), 1U) << sql;
    EXPECT_EQ(rows.value<T>(0, 0), value) << sql;
}

TEST(Values, TravelThereAndBack) {
    TestPool pool;
    expect_round_trip(pool, "select $1", true);
    expect_round_trip(pool, "select $1", std::int16_t{-300});
    expect_round_trip(pool, "select $1", std::int32_t{-70'000});
    expect_round_trip(pool, "select $1", std::int64_t{1} << 60);
    expect_round_trip(pool, "select $1", -0.1);
    expect_round_trip(pool, "select $1::text", "Zürich ☕"s);
    expect_round_trip(pool, "select $1::text", ""s);
    expect_round_trip(pool, "select $1", std::vector<std::uint8_t>{0, 1, 255});
    expect_round_trip(pool, "select $1", base::Digest{1, 2, 3});
    expect_round_trip(pool, "select $1", base::Uuid{{1, 2, 3}});
    expect_round_trip(pool, "select $1", base::Bucket{4711});
    expect_round_trip(pool, "select $1", base::Time(microseconds(1'700'000'000'123'456)));
    expect_round_trip(pool, "select $1", base::Time(-microseconds(1)));
    expect_round_trip(pool, "select $1", base::Time::max());
    expect_round_trip(pool, "select $1", base::Time::min());
    expect_round_trip(pool, "select $1", std::optional<std::int64_t>());
    expect_round_trip(pool, "select $1::text", std::optional<std::string>());
}

TEST(Values, MeanWhatTheServerUnderstands) {
    TestPool pool;
    const base::Time time(microseconds(951'782'400'000'001));
    const Rows rows =
        pool.query("select $1::text, ($2 at time zone 'UTC')::text, $3::text, $4::text, $5::text",
                   Parameters::of(std::int64_t{-5}, time, base::Uuid{{0xab}}, base::Time::max(),
                                  std::vector<std::uint8_t>{0xde, 0xad}));
    EXPECT_EQ(rows.value<std::string>(0, 0), "-5");
    EXPECT_EQ(rows.value<std::string>(0, 1), "2000-02-29 00:00:00.000001");
    EXPECT_EQ(rows.value<std::string>(0, 2), "ab000000-0000-0000-0000-000000000000");
    EXPECT_EQ(rows.value<std::string>(0, 3), "infinity");
    EXPECT_EQ(rows.value<std::string>(0, 4), "\\xdead");
}

TEST(Values, TravelInArrays) {
    TestPool pool;
    expect_round_trip(pool, "select $1", std::vector<bool>{true, false});
    expect_round_trip(pool, "select $1", std::vector<std::int16_t>{1, -2});
    expect_round_trip(pool, "select $1", std::vector<std::int32_t>{});
    expect_round_trip(pool, "select $1", std::vector<std::int64_t>{1, -2, 3});
    expect_round_trip(pool, "select $1", std::vector<double>{0.5});
    expect_round_trip(pool, "select $1", std::vector<std::string>{"a", "", "ü,{}\""});
    expect_round_trip(pool, "select $1", std::vector<base::Uuid>{{{9}}, {}});
    expect_round_trip(pool, "select $1", std::vector<base::Digest>{{1}, {2}});
    expect_round_trip(pool, "select $1", std::vector<base::Time>{base::Time(microseconds(7))});
    expect_round_trip(pool, "select $1", std::vector<std::vector<std::uint8_t>>{{1}, {}});
    expect_round_trip(pool, "select $1",
                      std::vector<std::optional<std::string>>{"a", std::nullopt, ""});
    expect_round_trip(pool, "select $1", std::vector<std::optional<std::int64_t>>{std::nullopt, 1});
}

struct Item {
    std::int64_t id = 0;
    std::string name;
    std::optional<base::Time> due;
};
BOOST_DESCRIBE_STRUCT(Item, (), (id, name, due))

TEST(Values, BecomeRowsByUnnest) {
    TestPool pool;
    const base::Time due(microseconds(5));
    const Rows rows = pool.query(
        "select name, id, due from unnest($1, $2, $3) as item(id, name, due) order by id",
        Parameters::of(std::vector<std::int64_t>{2, 1}, std::vector<std::string>{"zwei", "eins"},
                       std::vector<std::optional<base::Time>>{std::nullopt, due}));
    const std::vector<Item> items = rows.all<Item>();
    ASSERT_EQ(items.size(), 2U);
    EXPECT_EQ(items[0].name, "eins");
    EXPECT_EQ(items[0].due, due);
    EXPECT_EQ(items[1].id, 2);
    EXPECT_EQ(items[1].due, std::nullopt);
}

TEST(Values, LetATextBeWhatItsPlaceWants) {
    TestPool pool;
    pool.script(
        "drop table if exists pg_room_texts; create table pg_room_texts"
        "(j jsonb, v varchar(10), t text, i inet)");
    const Rows inserted =
        pool.query("insert into pg_room_texts values ($1, $2, $3, $4) returning j, v, t, i::text",
                   Parameters::of(R"({"a": 1})", "v", std::optional<std::string>(), "10.0.0.1"));
    EXPECT_EQ(inserted.affected(), 1U);
    EXPECT_EQ(inserted.value<std::string>(0, 0), R"({"a": 1})");
    EXPECT_EQ(inserted.value<std::string_view>(0, 1), "v");
    EXPECT_EQ(inserted.value<std::optional<std::string>>(0, 2), std::nullopt);
    EXPECT_EQ(inserted.value<std::string>(0, 3), "10.0.0.1/32");
}

TEST(Values, WithAZeroInATextAreRefusedAndNotCut) {
    TestPool pool;
    try {
        (void)pool.query("select $1::text", Parameters::of("a\0b"s));
        FAIL() << "the text was taken";
    } catch (const QueryFailed& refused) {
        EXPECT_TRUE(refused.is("22021"));
        EXPECT_EQ(refused.advice(), runtime::Advice::split);
    }
}

}  // namespace
}  // namespace tenon::postgres
