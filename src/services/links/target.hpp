// Where a link leads: an absolute http or https URL, kept in the one form that browsers make of it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace tenon::links {

/// The longest target, as it is given and as it is kept.
inline constexpr std::size_t target_bytes_max = 8192;

/// The URL as the WHATWG parser reads and writes it, without a base URL.
///
/// What a browser would repair is repaired (surrounding spaces, tabs and newlines, backslashes,
/// missing slashes, dot segments, international and numeric hosts, default ports); percent-encoded
/// bytes stay as they are. A kept target parses to itself.
///
/// Shape:   UTF-8 in, ASCII out; both at most target_bytes_max.
/// Errors:  links.invalid_target; the detail says which rule: length, invalid UTF-8 or U+0000, a
///          scheme other than http and https, user names and passwords, which hide the real host,
///          an empty or impossible host, an impossible port.
/// Threads: any.
/// Source:  WHATWG URL Standard, sections 3.5 and 4.4; UTS #46, non-transitional.
[[nodiscard]] base::Result<std::string> parse_target(std::string_view url);

/// The host of a kept target: no port, IPv6 in its brackets.
///
/// Expects: what parse_target gave.
/// Owns:    nothing; views `serialised`.
[[nodiscard]] std::string_view host_of(std::string_view serialised);

/// The target with the visitor's query behind its own and before its fragment.
///
/// Shape:   `raw_query` without its question mark, byte for byte: nothing is decoded, ordered or
///          replaced. Only bytes that would end the query or the header (controls, space, '#')
///          are percent-encoded.
/// Expects: what parse_target gave as `serialised`.
[[nodiscard]] std::string append_query(std::string_view serialised, std::string_view raw_query);

}  // namespace tenon::links
