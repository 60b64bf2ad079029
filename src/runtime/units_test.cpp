#include "runtime/units.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tenon::runtime {
namespace {

using namespace std::chrono_literals;

TEST(Units, DurationsAreReadWithTheirUnit) {
    EXPECT_EQ(parse_duration("250ms"), 250ms);
    EXPECT_EQ(parse_duration("5s"), 5s);
    EXPECT_EQ(parse_duration("90m"), 90min);
    EXPECT_EQ(parse_duration("24h"), 24h);
    EXPECT_EQ(parse_duration("7d"), 168h);
    EXPECT_EQ(parse_duration("10us"), 10us);
    EXPECT_EQ(parse_duration("0"), 0ns);
}

TEST(Units, OtherTextsAreNoDurations) {
    for (const char* text : {"", "5", "s", "-5s", "+5s", "5 s", "1.5s", "5S", "5sec", "5s ",
                             "1h30m", "99999999999999999999s", "9223372036855s000"}) {
        EXPECT_EQ(parse_duration(text), std::nullopt) << text;
    }
    EXPECT_EQ(parse_duration("106752d"), std::nullopt);
}

TEST(Units, DurationsAreWrittenShort) {
    EXPECT_EQ(format_duration(0s), "0s");
    EXPECT_EQ(format_duration(1'500ms), "1500ms");
    EXPECT_EQ(format_duration(60s), "1m");
    EXPECT_EQ(format_duration(24h), "24h");
    EXPECT_EQ(format_duration(48h), "2d");
}

TEST(Units, BytesAreReadWithBinaryUnits) {
    EXPECT_EQ(parse_bytes("65536"), 65'536U);
    EXPECT_EQ(parse_bytes("512B"), 512U);
    EXPECT_EQ(parse_bytes("64MiB"), 64U << 20);
    EXPECT_EQ(parse_bytes("16777215TiB"), 16'777'215ULL << 40);
    for (const char* text :
         {"", "B", "64MB", "64Mi", "64M", "-1", "1.5MiB", "16777216TiB", "1 KiB"}) {
        EXPECT_EQ(parse_bytes(text), std::nullopt) << text;
    }
    EXPECT_EQ(format_bytes(0), "0B");
    EXPECT_EQ(format_bytes(1'536), "1536B");
    EXPECT_EQ(format_bytes(16 << 10), "16KiB");
}

RC_GTEST_PROP(Units, WhatIsWrittenReadsBack, (std::uint64_t number)) {
    RC_ASSERT(parse_bytes(format_bytes(number)) == number);
    const std::chrono::nanoseconds duration(static_cast<std::int64_t>(number >> 1));
    RC_ASSERT(parse_duration(format_duration(duration)) == duration);
}

}  // namespace
}  // namespace tenon::runtime
