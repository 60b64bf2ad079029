#include "base/codes.hpp"

#include "base/assert.hpp"
#include "base/base62.hpp"
#include "base/hash.hpp"

namespace tenon::base {
namespace {

constexpr int half_bits = 21;
constexpr std::uint64_t half_mask = (std::uint64_t{1} << half_bits) - 1;
constexpr std::uint64_t rounds = 8;

static_assert(codes_total <= std::uint64_t{1} << (2 * half_bits));

std::uint64_t round_value(const BijectionKey& key, std::uint64_t round, std::uint64_t half) {
    return sip_hash64(key, (round << 32) | half) & half_mask;
}

std::uint64_t permute(const BijectionKey& key, std::uint64_t number) {
    std::uint64_t left = number >> half_bits;
    std::uint64_t right = number & half_mask;
    for (std::uint64_t round = 0; round < rounds; ++round) {
        const std::uint64_t mixed = left ^ round_value(key, round, right);
        left = right;
        right = mixed;
    }
    return (left << half_bits) | right;
}

std::uint64_t unpermute(const BijectionKey& key, std::uint64_t image) {
    std::uint64_t left = image >> half_bits;
    std::uint64_t right = image & half_mask;
    for (std::uint64_t round = rounds; round-- > 0;) {
        const std::uint64_t mixed = right ^ round_value(key, round, left);
        right = left;
        left = mixed;
    }
    return (left << half_bits) | right;
}

}  // namespace

std::uint64_t Bijection::forward(std::uint64_t number) const {
    TENON_ASSERT(number < codes_total);
    // Walking along the cycle of a permutation of 2^42 ends inside [0, 62^7), where it began.
    do number = permute(key_, number);
    while (number >= codes_total);
    return number;
}

std::uint64_t Bijection::inverse(std::uint64_t image) const {
    TENON_ASSERT(image < codes_total);
    do image = unpermute(key_, image);
    while (image >= codes_total);
    return image;
}

bool has_code_form(std::string_view path) {
    if (path.size() != code_width) return false;
    bool digit = false;
    bool capital = false;
    for (const char character : path) {
        const bool is_digit = character >= '0' && character <= '9';
        const bool is_capital = character >= 'A' && character <= 'Z';
        const bool is_small = character >= 'a' && character <= 'z';
        if (!is_digit && !is_capital && !is_small) return false;
        digit |= is_digit;
        capital |= is_capital;
    }
    return digit && capital;
}

std::optional<std::string> make_code(const Bijection& bijection, CodeNumber number) {
    TENON_ASSERT(number.k < codes_per_slot && number.slot.value < slots_total);
    const std::uint64_t n = number.k * slots_total + number.slot.value;
    std::string code = encode_base62(bijection.forward(n), code_width);
    if (!has_code_form(code)) return std::nullopt;
    return code;
}

std::optional<CodeNumber> read_code(const Bijection& bijection, std::string_view code) {
    if (!has_code_form(code)) return std::nullopt;
    const auto image = decode_base62(code);
    TENON_ASSERT(image && *image < codes_total);
    const std::uint64_t n = bijection.inverse(*image);
    const CodeNumber number{n / slots_total, {static_cast<std::uint16_t>(n % slots_total)}};
    if (number.k >= codes_per_slot) return std::nullopt;
    return number;
}

}  // namespace tenon::base
