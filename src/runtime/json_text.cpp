#include "runtime/json_text.hpp"

#include <array>
#include <cstdint>
#include <cstring>

namespace tenon::runtime {
namespace {

constexpr std::array<bool, 256> make_plain() {
    std::array<bool, 256> plain{};
    for (std::size_t byte = 0x20; byte < 0x80; ++byte) plain[byte] = true;
    plain['"'] = false;
    plain['\\'] = false;
    return plain;
}

constexpr std::array<bool, 256> plain_bytes = make_plain();

std::uint8_t byte_at(std::string_view text, std::size_t at) {
    return static_cast<std::uint8_t>(text[at]);
}

bool in_range(std::string_view text, std::size_t at, int low, int high) {
    return at < text.size() && byte_at(text, at) >= low && byte_at(text, at) <= high;
}

constexpr std::uint64_t high_bits = 0x8080'8080'8080'8080;
constexpr std::uint64_t low_bits = 0x0101'0101'0101'0101;

std::uint64_t word_at(std::string_view text, std::size_t at) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, sizeof word);
    return word;
}

/// High bits where a byte is zero; above such a byte also others. Expects: no high bit is set.
constexpr std::uint64_t zero_bytes(std::uint64_t word) {
    return (word - low_bits) & high_bits;
}

/// True when none of eight bytes needs a look: ASCII without controls, '"' and '\\'.
///
/// Source: Anderson, "Bit Twiddling Hacks", "Determine if a word has a byte less than n".
bool is_plain_word(std::uint64_t word) {
    const std::uint64_t controls = (word - low_bits * 0x20) & high_bits;
    const std::uint64_t quotes = zero_bytes(word ^ (low_bits * '"'));
    const std::uint64_t backslashes = zero_bytes(word ^ (low_bits * '\\'));
    return ((word & high_bits) | controls | quotes | backslashes) == 0;
}

void append_escape(std::string& out, char character) {
    constexpr std::string_view digits = "0123456789abcdef";
    switch (character) {
        case '"':
            out += "\\\"";
            return;
        case '\\':
            out += "\\\\";
            return;
        case '\n':
            out += "\\n";
            return;
        case '\r':
            out += "\\r";
            return;
        case '\t':
            out += "\\t";
            return;
        case '\b':
            out += "\\b";
            return;
        case '\f':
            out += "\\f";
            return;
        default:
            break;
    }
    const auto byte = static_cast<std::uint8_t>(character);
    out += "\\u00";
    out += digits[byte >> 4];
    out += digits[byte & 15];
}

}  // namespace

std::size_t utf8_length(std::string_view text) {
    if (text.empty()) return 0;
    const std::uint8_t first = byte_at(text, 0);
    if (first < 0x80) return 1;
    if (first < 0xC2) return 0;
    if (first < 0xE0) return in_range(text, 1, 0x80, 0xBF) ? 2 : 0;
    if (first < 0xF0) {
        const int low = first == 0xE0 ? 0xA0 : 0x80;
        const int high = first == 0xED ? 0x9F : 0xBF;
        return in_range(text, 1, low, high) && in_range(text, 2, 0x80, 0xBF) ? 3 : 0;
    }
    if (first > 0xF4) return 0;
    const int low = first == 0xF0 ? 0x90 : 0x80;
    const int high = first == 0xF4 ? 0x8F : 0xBF;
    return in_range(text, 1, low, high) && in_range(text, 2, 0x80, 0xBF) &&
                   in_range(text, 3, 0x80, 0xBF)
               ? 4
               : 0;
}

bool is_utf8(std::string_view text) {
    std::size_t at = 0;
    while (at < text.size()) {
        if (at + sizeof(std::uint64_t) <= text.size() && (word_at(text, at) & high_bits) == 0) {
            at += sizeof(std::uint64_t);
            continue;
        }
        const std::size_t length = utf8_length(text.substr(at));
        if (length == 0) return false;
        at += length;
    }
    return true;
}

std::size_t count_characters(std::string_view text) {
    std::size_t count = 0;
    for (const char c : text) count += (static_cast<std::uint8_t>(c) & 0xC0) != 0x80 ? 1 : 0;
    return count;
}

void append_json_string(std::string& out, std::string_view text) {
    out += '"';
    std::size_t from = 0;
    std::size_t at = 0;
    while (at < text.size()) {
        if (at + sizeof(std::uint64_t) <= text.size() && is_plain_word(word_at(text, at))) {
            at += sizeof(std::uint64_t);
            continue;
        }
        if (plain_bytes[byte_at(text, at)]) {
            ++at;
            continue;
        }
        const bool is_ascii = byte_at(text, at) < 0x80;
        const std::size_t length = is_ascii ? 0 : utf8_length(text.substr(at));
        if (length > 0) {
            at += length;
            continue;
        }
        out.append(text, from, at - from);
        if (is_ascii) {
            append_escape(out, text[at]);
        } else {
            out += "\xEF\xBF\xBD";
        }
        from = ++at;
    }
    out.append(text, from, text.size() - from);
    out += '"';
}

}  // namespace tenon::runtime
