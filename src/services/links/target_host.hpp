// The host of a target: a domain in ASCII, an IPv4 or an IPv6 address.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace tenon::links {

/// links.invalid_target with the rule that was broken.
[[nodiscard]] std::unexpected<base::Error> refuse_target(std::string rule);

/// The text that the WHATWG host parser makes of a special URL's host, before its port.
///
/// Shape:   domains in lower-case ASCII; every form of an IPv4 number as four decimal parts; IPv6
///          in brackets with its longest run of zeros left out.
/// Expects: valid UTF-8, not empty.
/// Errors:  links.invalid_target.
/// Threads: any.
/// Source:  WHATWG URL Standard, section 3.5.
[[nodiscard]] base::Result<std::string> parse_host(std::string_view text);

}  // namespace tenon::links
