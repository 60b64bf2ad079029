// Comparing and checking the short texts of a protocol.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::http {

/// An ASCII capital as a small letter; anything else as it is.
[[nodiscard]] constexpr char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// Compares ASCII without case.
[[nodiscard]] constexpr bool equal_without_case(std::string_view left, std::string_view right) {
    return left.size() == right.size() &&
           std::equal(left.begin(), left.end(), right.begin(),
                      [](char a, char b) { return lower(a) == lower(b); });
}

/// Without the white space at both ends that a header's grammar allows.
[[nodiscard]] constexpr std::string_view trim(std::string_view text) {
    while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
    while (text.ends_with(' ') || text.ends_with('\t')) text.remove_suffix(1);
    return text;
}

/// One to five digits.
[[nodiscard]] constexpr bool is_port(std::string_view text) {
    constexpr std::size_t digits_max = 5;
    return !text.empty() && text.size() <= digits_max &&
           text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace tenon::http
