#include "base/base62.hpp"

#include <array>

#include <fmt/format.h>

#include "base/assert.hpp"
#include "base/errors.hpp"

namespace tenon::base {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr int id_width = 22;  // 62^22 > 2^128 > 62^21
constexpr std::uint8_t no_digit = 255;

/// The value of every character, `no_digit` for those that are none.
constexpr std::array<std::uint8_t, 256> make_digit_values() {
    std::array<std::uint8_t, 256> values{};
    values.fill(no_digit);
    for (std::size_t i = 0; i < base62_digits.size(); ++i) {
        values[static_cast<unsigned char>(base62_digits[i])] = static_cast<std::uint8_t>(i);
    }
    return values;
}
constexpr auto digit_values = make_digit_values();

/// Fills `out` from its end and gives back what did not fit.
template <class Number>
Number write_digits(Number value, char* out, int width) {
    for (int place = width - 1; place >= 0; --place) {
        out[place] = base62_digits[static_cast<std::size_t>(value % 62)];
        value /= 62;
    }
    return value;
}

template <class Number>
std::optional<Number> read_digits(std::string_view text) {
    constexpr Number largest = static_cast<Number>(-1);
    Number value = 0;
    for (const char character : text) {
        const std::uint8_t digit = digit_values[static_cast<unsigned char>(character)];
        if (digit == no_digit) return std::nullopt;
        if (value > (largest - digit) / 62) return std::nullopt;
        value = value * 62 + digit;
    }
    return value;
}

}  // namespace

std::string encode_base62(std::uint64_t value, int width) {
    TENON_ASSERT(width >= 1 && width <= 10);
    std::string text(static_cast<std::size_t>(width), '0');
    const std::uint64_t rest = write_digits(value, text.data(), width);
    TENON_ASSERT(rest == 0);
    return text;
}

std::string encode_base62(std::uint64_t value) {
    constexpr int widest = 11;  // 62^11 > 2^64
    std::string text(widest, '0');
    write_digits(value, text.data(), widest);
    const std::size_t first = text.find_first_not_of('0');
    return first == std::string::npos ? "0" : text.substr(first);
}

std::optional<std::uint64_t> decode_base62(std::string_view text) {
    if (text.empty()) return std::nullopt;
    return read_digits<std::uint64_t>(text);
}

std::string format_id(std::string_view prefix, const Uuid& id) {
    Wide value = 0;
    for (const std::uint8_t byte : id.bytes) value = (value << 8) | byte;
    std::string text(prefix);
    text += '_';
    const std::size_t start = text.size();
    text.resize(start + id_width);
    write_digits(value, text.data() + start, id_width);
    return text;
}

Result<Uuid> parse_id(std::string_view prefix, std::string_view text) {
    const bool shaped = text.size() == prefix.size() + 1 + id_width && text.starts_with(prefix) &&
                        text[prefix.size()] == '_';
    const auto value =
        shaped ? read_digits<Wide>(text.substr(prefix.size() + 1)) : std::optional<Wide>();
    if (!value) {
        return fail(errors::invalid_id,
                    fmt::format("Expected an id of the form {0}_ and {1} characters of 0-9, A-Z "
                                "and a-z, as it was handed out.",
                                prefix, id_width));
    }
    Uuid id;
    Wide rest = *value;
    for (std::size_t i = id.bytes.size(); i-- > 0; rest >>= 8) {
        id.bytes[i] = static_cast<std::uint8_t>(rest);
    }
    return id;
}

}  // namespace tenon::base
