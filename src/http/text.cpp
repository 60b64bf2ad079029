#include "http/text.hpp"

#include <cstdint>
#include <numeric>

namespace tenon::http {

namespace {

struct Sequence {
    std::size_t length = 0;  // 0: not the start of a sequence
    std::uint32_t least = 0;
    std::uint32_t bits = 0;
};

Sequence sequence_of(unsigned char first) {
    if (first < 0x80) return {1, 0, first};
    if (first >= 0xC2 && first < 0xE0) return {2, 0x80, first & 0x1Fu};
    if (first >= 0xE0 && first < 0xF0) return {3, 0x800, first & 0x0Fu};
    if (first >= 0xF0 && first < 0xF5) return {4, 0x10000, first & 0x07u};
    return {};
}

bool is_scalar(std::uint32_t value, std::uint32_t least) {
    return value >= least && value <= 0x10FFFF && (value < 0xD800 || value > 0xDFFF);
}

// Levenshtein distance, one row at a time.
std::size_t distance(std::string_view left, std::string_view right) {
    std::vector<std::size_t> row(right.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < left.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i + 1;
        for (std::size_t j = 0; j < right.size(); ++j) {
            const std::size_t replaced = diagonal + (left[i] == right[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, row[j + 1] + 1, row[j] + 1});
        }
    }
    return row.back();
}

}  // namespace

bool is_utf8(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        const Sequence sequence = sequence_of(static_cast<unsigned char>(text[at]));
        if (sequence.length == 0 || text.size() - at < sequence.length) return false;
        std::uint32_t value = sequence.bits;
        for (std::size_t i = 1; i < sequence.length; ++i) {
            const auto next = static_cast<unsigned char>(text[at + i]);
            if ((next & 0xC0u) != 0x80u) return false;
            value = value << 6 | (next & 0x3Fu);
        }
        if (!is_scalar(value, sequence.least)) return false;
        at += sequence.length;
    }
    return true;
}

std::size_t count_characters(std::string_view text) {
    return static_cast<std::size_t>(std::ranges::count_if(
        text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0u) != 0x80u; }));
}

std::string nearest(std::string_view text, const std::vector<std::string_view>& names) {
    constexpr std::size_t longest_compared = 64;
    if (text.size() > longest_compared) return {};
    std::string_view best;
    std::size_t least = std::max<std::size_t>(2, text.size() / 3) + 1;
    for (const std::string_view name : names) {
        const std::size_t apart = distance(text, name);
        if (apart < least) {
            least = apart;
            best = name;
        }
    }
    return std::string(best);
}

}  // namespace tenon::http
