#include "postgres/parameters.hpp"

#include <gtest/gtest.h>

#include <string>

namespace tenon::postgres {
namespace {

using namespace std::string_literals;
using Entry = Parameters::Entry;

std::string hex(std::string_view bytes) {
    std::string text;
    for (const char c : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
    return text;
}

template <class T>
void expect_encoded(const T& value, Oid type, const std::string& bytes) {
    const Parameters parameters = Parameters::of(value);
    ASSERT_EQ(parameters.size(), 1U);
    EXPECT_EQ(parameters.entries()[0].type, type);
    EXPECT_EQ(hex(parameters.bytes(0)), bytes);
}

TEST(Parameters, EncodeScalarsInNetworkOrder) {
    expect_encoded(true, 16, "01");
    expect_encoded(false, 16, "00");
    expect_encoded(std::int16_t{-2}, 21, "fffe");
    expect_encoded(std::int32_t{258}, 23, "00000102");
    expect_encoded(std::int64_t{-1}, 20, "ffffffffffffffff");
    expect_encoded(1.5, 701, "3ff8000000000000");
    expect_encoded(base::Bucket{1024}, 23, "00000400");
    expect_encoded(base::Uuid{{1, 2, 3}}, 2950, "01020300000000000000000000000000");
    expect_encoded(std::vector<std::uint8_t>{0, 255}, 17, "00ff");
    expect_encoded(base::Digest{9}, 17, "09" + std::string(62, '0'));
}

TEST(Parameters, CountTimesInMicrosecondsSince2000) {
    using namespace std::chrono;
    const auto year_2000 = sys_days(year(2000) / 1 / 1);
    expect_encoded(base::Time(year_2000), 1184, "0000000000000000");
    expect_encoded(base::Time(year_2000 + seconds(1)), 1184, "00000000000f4240");
    expect_encoded(base::Time(year_2000 - microseconds(1)), 1184, "ffffffffffffffff");
    expect_encoded(base::Time::max(), 1184, "7fffffffffffffff");
    expect_encoded(base::Time::min(), 1184, "8000000000000000");
    EXPECT_THROW(Parameters::of(base::Time::min() + microseconds(1)), std::logic_error);
}

TEST(Parameters, LeaveTheTypeOfATextToTheServer) {
    const Parameters parameters = Parameters::of("ab", std::string("c"), std::string_view());
    ASSERT_EQ(parameters.size(), 3U);
    for (const Entry& entry : parameters.entries()) {
        EXPECT_EQ(entry.type, oid::unknown);
        EXPECT_EQ(entry.form, 0);
    }
    EXPECT_EQ(parameters.bytes(0), "ab");
    EXPECT_EQ(parameters.bytes(0).data()[2], '\0');
    EXPECT_EQ(parameters.bytes(2), "");
    EXPECT_EQ(parameters.bytes(2).data()[0], '\0');
}

TEST(Parameters, SendATextWithAZeroWholeSoThatTheServerRefusesIt) {
    const Parameters parameters = Parameters::of("a\0b"s);
    EXPECT_EQ(parameters.entries()[0].form, 1);
    EXPECT_EQ(parameters.bytes(0), "a\0b"s);
}

TEST(Parameters, EncodeNullWithItsType) {
    const Parameters parameters =
        Parameters::of(std::optional<std::int64_t>(), std::optional<std::string>(),
                       std::optional<bool>(true), std::optional<std::vector<std::int32_t>>());
    EXPECT_LT(parameters.entries()[0].length, 0);
    EXPECT_EQ(parameters.entries()[0].type, oid::int8);
    EXPECT_LT(parameters.entries()[1].length, 0);
    EXPECT_EQ(parameters.entries()[1].type, oid::unknown);
    EXPECT_EQ(hex(parameters.bytes(2)), "01");
    EXPECT_LT(parameters.entries()[3].length, 0);
    EXPECT_EQ(parameters.entries()[3].type, 1007U);
}

TEST(Parameters, EncodeArraysWithTheirElementsType) {
    expect_encoded(std::vector<std::int16_t>{1, -1}, 1005,
                   "00000001"  // one dimension
                   "00000000"  // no NULLs
                   "00000015"  // of int2
                   "00000002"  // two elements
                   "00000001"  // from index 1
                   "00000002"
                   "0001"  // length, value
                   "00000002"
                   "ffff");
    expect_encoded(std::vector<std::string>{}, 1009,
                   "00000000"
                   "00000000"
                   "00000019");
    expect_encoded(std::vector<std::optional<std::string>>{"x", std::nullopt}, 1009,
                   "00000001"
                   "00000001"
                   "00000019"
                   "00000002"
                   "00000001"
                   "00000001"
                   "78"
                   "ffffffff");
    expect_encoded(std::vector<bool>{true, false}, 1000,
                   "00000001"
                   "00000000"
                   "00000010"
                   "00000002"
                   "00000001"
                   "00000001"
                   "01"
                   "00000001"
                   "00");
    expect_encoded(std::vector<base::Bucket>{{7}}, 1007,
                   "00000001"
                   "00000000"
                   "00000017"
                   "00000001"
                   "00000001"
                   "00000004"
                   "00000007");
}

TEST(Parameters, KeepSeveralValuesApart) {
    const Parameters parameters =
        Parameters::of(std::int32_t{1}, "zwei", std::vector<std::int64_t>{3}, 4.0);
    EXPECT_EQ(parameters.size(), 4U);
    EXPECT_EQ(hex(parameters.bytes(0)), "00000001");
    EXPECT_EQ(parameters.bytes(1), "zwei");
    EXPECT_EQ(parameters.bytes(2).size(), 20U + 4U + 8U);
    EXPECT_EQ(hex(parameters.bytes(3)), "4010000000000000");
}

}  // namespace
}  // namespace tenon::postgres
