#include "http/text.hpp"

#include <numeric>

#include "runtime/json_text.hpp"

namespace tenon::http {

namespace {

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
    while (!text.empty()) {
        const std::size_t length = runtime::utf8_length(text);
        if (length == 0) return false;
        text.remove_prefix(length);
    }
    return true;
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
