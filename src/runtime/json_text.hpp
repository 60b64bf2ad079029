// The smallest pieces of JSON text, shared by answers and log lines.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tenon::runtime {

/// Appends `text` as a JSON string with its quotes.
///
/// Shape: escapes '"', '\' and control characters; other characters stay as UTF-8. A byte that is
///        not UTF-8 becomes U+FFFD, so the result is always valid JSON.
/// Cost:  O(n); one append per run of plain characters.
void append_json_string(std::string& out, std::string_view text);

/// The length in bytes of the UTF-8 sequence that begins `text`; 0 when it is not valid UTF-8.
///
/// Shape:  1 .. 4; overlong forms, surrogates and values over U+10FFFF are not valid.
/// Source: RFC 3629 section 4.
[[nodiscard]] std::size_t utf8_length(std::string_view text);

/// True for well-formed UTF-8 (RFC 3629).
///
/// Cost: eight bytes at a time where the text is ASCII.
[[nodiscard]] bool is_utf8(std::string_view text);

/// The number of characters (code points) of a valid UTF-8 text.
[[nodiscard]] std::size_t count_characters(std::string_view text);

}  // namespace tenon::runtime
