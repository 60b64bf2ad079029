#include "base/base62.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/errors.hpp"

namespace tenon::base {
namespace {

TEST(Base62, Examples) {
    EXPECT_EQ(encode_base62(0), "0");
    EXPECT_EQ(encode_base62(61), "z");
    EXPECT_EQ(encode_base62(62), "10");
    EXPECT_EQ(encode_base62(62, 7), "0000010");
    EXPECT_EQ(encode_base62(3'521'614'606'207, 7), "zzzzzzz");
    EXPECT_EQ(encode_base62(UINT64_MAX), "LygHa16AHYF");
    EXPECT_EQ(decode_base62("LygHa16AHYF"), UINT64_MAX);
}

TEST(Base62, RefusesWhatIsNoNumber) {
    for (const std::string_view text :
         {"", "-", " 1", "1 ", "a_b", "\xc3\xa4", "LygHa16AHYG", "zzzzzzzzzzz", "100000000000"}) {
        EXPECT_FALSE(decode_base62(text)) << text;
    }
    EXPECT_EQ(decode_base62("00000000000000001"), 1u);
}

RC_GTEST_PROP(Base62, RoundTrip, (std::uint64_t value)) {
    RC_ASSERT(decode_base62(encode_base62(value)) == value);
}

RC_GTEST_PROP(Base62, EqualWidthSortsAsNumbers, ()) {
    constexpr std::uint64_t end = 839'299'365'868'340'224;  // 62^10
    const auto left = *rc::gen::inRange<std::uint64_t>(0, end);
    const auto right = *rc::gen::inRange<std::uint64_t>(0, end);
    const auto near = std::min(left + 1, end - 1);
    RC_ASSERT((left < right) == (encode_base62(left, 10) < encode_base62(right, 10)));
    RC_ASSERT((left < near) == (encode_base62(left, 10) < encode_base62(near, 10)));
    RC_ASSERT(decode_base62(encode_base62(left, 10)) == left);
}

TEST(Ids, Examples) {
    Uuid highest;
    highest.bytes.fill(255);
    EXPECT_EQ(format_id("acc", Uuid{}), "acc_0000000000000000000000");
    EXPECT_EQ(format_id("acc", highest), "acc_7n42DGM5Tflk9n8mt7Fhc7");
    EXPECT_EQ(parse_id("acc", "acc_7n42DGM5Tflk9n8mt7Fhc7"), highest);
}

TEST(Ids, RefusesOtherKindsAndDamage) {
    for (const std::string_view text :
         {"", "acc_", "trf_0000000000000000000000", "acc-0000000000000000000000",
          "acc_000000000000000000000", "acc_00000000000000000000000", "acc_000000000000000000000_",
          "acc_7n42DGM5Tflk9n8mt7Fhc8", "acc_zzzzzzzzzzzzzzzzzzzzzz",
          "ACC_0000000000000000000000"}) {
        const auto id = parse_id("acc", text);
        ASSERT_FALSE(id) << text;
        EXPECT_TRUE(id.error().is(errors::invalid_id));
        EXPECT_NE(id.error().detail().find("acc_"), std::string::npos);
    }
}

RC_GTEST_PROP(Ids, RoundTripAndOrder,
              (const std::array<std::uint8_t, 16>& left,
               const std::array<std::uint8_t, 16>& right)) {
    const std::string text = format_id("msg", Uuid{left});
    RC_ASSERT(text.size() == 26u);
    RC_ASSERT(parse_id("msg", text).value() == Uuid{left});
    RC_ASSERT((Uuid{left} < Uuid{right}) == (text < format_id("msg", Uuid{right})));
}

}  // namespace
}  // namespace tenon::base
