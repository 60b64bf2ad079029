#include "base/codes.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "base/base62.hpp"

namespace tenon::base {
namespace {

constexpr BijectionKey counting_key{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

auto numbers() {
    return rc::gen::inRange<std::uint64_t>(0, codes_total);
}

struct Vector {
    std::uint64_t number;
    std::uint64_t of_zero_key;
    std::uint64_t of_counting_key;
};

// Computed by a second implementation, written from the text in codes.hpp. Codes in the world
// depend on these values: a change here makes every short link name another slot.
TEST(Bijection, FixedVectors) {
    const Bijection zero(BijectionKey{});
    const Bijection counting(counting_key);
    for (const Vector& vector : {
             Vector{0, 1'977'103'279'673, 841'344'100'118},
             Vector{1, 3'373'508'961'990, 493'605'134'837},
             Vector{2, 2'945'422'350'411, 3'505'782'257'373},
             Vector{1023, 3'096'710'758'488, 2'891'981'515'024},
             Vector{1024, 1'017'913'562'711, 717'297'055'070},
             Vector{1'234'567'890'123, 2'773'339'067'102, 1'059'319'517'571},
             Vector{codes_total - 1, 89'899'654'089, 1'804'187'084'612},
         }) {
        EXPECT_EQ(zero.forward(vector.number), vector.of_zero_key);
        EXPECT_EQ(counting.forward(vector.number), vector.of_counting_key);
    }
}

RC_GTEST_PROP(Bijection, InverseUndoesForward, (const BijectionKey& key)) {
    const Bijection bijection(key);
    const std::uint64_t number = *numbers();
    const std::uint64_t image = bijection.forward(number);
    RC_ASSERT(image < codes_total);
    RC_ASSERT(bijection.inverse(image) == number);
    RC_ASSERT(bijection.forward(bijection.inverse(number)) == number);
}

RC_GTEST_PROP(Bijection, ConsecutiveNumbersNeverMeet, (const BijectionKey& key)) {
    const Bijection bijection(key);
    const std::uint64_t first = *rc::gen::inRange<std::uint64_t>(0, codes_total - 500);
    std::set<std::uint64_t> images;
    for (std::uint64_t i = 0; i < 500; ++i) images.insert(bijection.forward(first + i));
    RC_ASSERT(images.size() == 500u);
}

TEST(Bijection, SpreadsConsecutiveNumbersOverTheWholeSpace) {
    const Bijection bijection(counting_key);
    std::array<int, 16> parts{};
    for (std::uint64_t n = 0; n < 16'000; ++n) {
        ++parts[bijection.forward(n) / (codes_total / 16 + 1)];
    }
    for (const int part : parts) EXPECT_NEAR(part, 1'000, 150);
}

TEST(Bijection, OneKeyBitChangesTheImage) {
    for (std::size_t bit = 0; bit < 128; ++bit) {
        BijectionKey key = counting_key;
        key[bit / 8] = static_cast<std::uint8_t>(key[bit / 8] ^ (1 << (bit % 8)));
        int same = 0;
        for (std::uint64_t n = 0; n < 20; ++n) {
            same += Bijection(key).forward(n) == Bijection(counting_key).forward(n);
        }
        EXPECT_LE(same, 1) << bit;
    }
}

TEST(Codes, Form) {
    for (const std::string_view code : {"A000000", "aB3aaaa", "Zzzzzz9", "0ABCDEF"}) {
        EXPECT_TRUE(has_code_form(code)) << code;
    }
    for (const std::string_view other : {"", "A00000", "A0000000", "aaaaaaa", "AAAAAAA", "0000000",
                                         "abcdef1", "ABCDEFG", "A0-0000", "A0000\xc3\xa4"}) {
        EXPECT_FALSE(has_code_form(other)) << other;
    }
}

RC_GTEST_PROP(Codes, NameTheirNumberAndSlot, (const BijectionKey& key)) {
    const Bijection bijection(key);
    const CodeNumber number{*rc::gen::inRange<std::uint64_t>(0, codes_per_slot),
                            {*rc::gen::inRange<std::uint16_t>(0, slots_total)}};
    const auto code = make_code(bijection, number);
    if (!code) {
        const auto n = number.k * slots_total + number.slot.value;
        RC_ASSERT(!has_code_form(encode_base62(bijection.forward(n), code_width)));
        return;
    }
    RC_ASSERT(has_code_form(*code));
    RC_ASSERT(read_code(bijection, *code) == number);
}

TEST(Codes, MostNumbersHaveACode) {
    const Bijection bijection(counting_key);
    int made = 0;
    for (std::uint64_t k = 0; k < 2'000; ++k) made += make_code(bijection, {k, {7}}).has_value();
    // A share of 1 - (52/62)^7 - (36/62)^7 + (26/62)^7 = 0.69 has a digit and a capital.
    EXPECT_NEAR(made, 1'378, 90);
}

TEST(Codes, BeyondTheLastWholeRoundAreUnknown) {
    const Bijection bijection(BijectionKey{});
    int refused = 0;
    for (std::uint64_t n = codes_per_slot * slots_total; n < codes_total; ++n) {
        const std::string code = encode_base62(bijection.forward(n), code_width);
        EXPECT_FALSE(read_code(bijection, code)) << code;
        refused += has_code_form(code);
    }
    EXPECT_GT(refused, 100);
    EXPECT_FALSE(read_code(bijection, "summer1"));
}

}  // namespace
}  // namespace tenon::base
