#include "base/rfc3339.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tenon::base {
namespace {

using std::chrono::microseconds;

std::string read_again(std::string_view text) {
    const auto time = parse_time(text);
    return time ? format_time(*time) : "refused";
}

TEST(Rfc3339, FormatsFractionsByNeed) {
    EXPECT_EQ(format_time(Time{}), "1970-01-01T00:00:00Z");
    EXPECT_EQ(format_time(Time{microseconds(120'000)}), "1970-01-01T00:00:00.120Z");
    EXPECT_EQ(format_time(Time{microseconds(1)}), "1970-01-01T00:00:00.000001Z");
    EXPECT_EQ(format_time(Time{microseconds(-1)}), "1969-12-31T23:59:59.999999Z");
    EXPECT_EQ(format_time(time_min), "0001-01-01T00:00:00Z");
    EXPECT_EQ(format_time(time_max), "9999-12-31T23:59:59.999999Z");
}

TEST(Rfc3339, AcceptsWhatTheRfcAllows) {
    EXPECT_EQ(read_again("2026-11-30T15:44:26.123456Z"), "2026-11-30T15:44:26.123456Z");
    EXPECT_EQ(read_again("2026-11-30t15:44:26z"), "2026-11-30T15:44:26Z");
    EXPECT_EQ(read_again("1996-12-19T16:39:57-08:00"), "1996-12-20T00:39:57Z");
    EXPECT_EQ(read_again("1937-01-01T12:00:27.87+00:20"), "1937-01-01T11:40:27.870Z");
    EXPECT_EQ(read_again("2024-02-29T23:59:59.9999999Z"), "2024-02-29T23:59:59.999999Z");
    EXPECT_EQ(read_again("2024-03-01T00:00:00+23:59"), "2024-02-29T00:01:00Z");
    EXPECT_EQ(read_again("2024-03-01T00:00:00-00:00"), "2024-03-01T00:00:00Z");
}

TEST(Rfc3339, RefusesEverythingElse) {
    for (const std::string_view text : {
             "",
             "2026-11-30",
             "2026-11-30T15:44:26",
             "2026-11-30 15:44:26Z",
             "2026-11-30T15:44Z",
             "2026-11-30T15:44:26.Z",
             "2026-11-30T15:44:26,5Z",
             "2026-11-30T15:44:26.1234567890Z",
             "2026-11-30T24:00:00Z",
             "2026-11-30T15:60:00Z",
             "2016-12-31T23:59:60Z",
             "2023-02-29T00:00:00Z",
             "2026-13-01T00:00:00Z",
             "2026-00-01T00:00:00Z",
             "2026-01-00T00:00:00Z",
             "2026-1-01T00:00:00Z",
             "0000-12-31T00:00:00Z",
             "0001-01-01T00:00:00+00:01",
             "9999-12-31T23:59:59-00:01",
             "10000-01-01T00:00:00Z",
             "+2026-01-01T00:00:00Z",
             "2026-01-01T00:00:00+24:00",
             "2026-01-01T00:00:00+01:60",
             "2026-01-01T00:00:00+0100",
             "2026-01-01T00:00:00+01",
             "2026-01-01T00:00:00ZZ",
             " 2026-01-01T00:00:00Z",
             "2026-01-01T00:00:00Z\n",
         }) {
        EXPECT_FALSE(parse_time(text)) << text;
    }
}

RC_GTEST_PROP(Rfc3339, RoundTrip, ()) {
    const auto scale = *rc::gen::element<std::int64_t>(1, 1'000, 1'000'000, 86'400'000'000);
    const auto low = time_min.time_since_epoch().count() / scale;
    const auto high = time_max.time_since_epoch().count() / scale;
    const Time time{microseconds(*rc::gen::inRange(low, high) * scale)};
    RC_ASSERT(parse_time(format_time(time)) == time);
}

RC_GTEST_PROP(Rfc3339, AnOffsetMovesTheMoment, ()) {
    const auto minutes = *rc::gen::inRange(0, 24 * 60);
    const std::string clock = fmt::format("{:02}:{:02}", minutes / 60, minutes % 60);
    const Time noon = parse_time("2026-06-15T12:00:00Z").value();
    const std::chrono::minutes offset(minutes);
    RC_ASSERT(parse_time("2026-06-15T12:00:00+" + clock) == noon - offset);
    RC_ASSERT(parse_time("2026-06-15T12:00:00-" + clock) == noon + offset);
}

}  // namespace
}  // namespace tenon::base
