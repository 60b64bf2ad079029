#include "services/links/target_host.hpp"

#include <arpa/inet.h>
#include <unicode/uidna.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "base/assert.hpp"
#include "http/text.hpp"
#include "runtime/json_text.hpp"
#include "services/links/errors.hpp"

namespace tenon::links {
namespace {

using Groups = std::array<std::uint16_t, 8>;

constexpr bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

std::optional<unsigned> hex_value(char c) {
    if (is_digit(c)) return static_cast<unsigned>(c - '0');
    const char small = http::lower(c);
    if (small >= 'a' && small <= 'f') return static_cast<unsigned>(small - 'a' + 10);
    return std::nullopt;
}

std::string percent_decode(std::string_view text) {
    if (text.find('%') == std::string_view::npos) return std::string(text);
    std::string decoded;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] == '%' && at + 2 < text.size()) {
            const auto high = hex_value(text[at + 1]);
            const auto low = hex_value(text[at + 2]);
            if (high && low) {
                decoded += static_cast<char>(static_cast<unsigned char>(*high << 4 | *low));
                at += 2;
                continue;
            }
        }
        decoded += text[at];
    }
    return decoded;
}

std::vector<std::string_view> split_labels(std::string_view domain) {
    std::vector<std::string_view> labels;
    for (;;) {
        const std::size_t dot = domain.find('.');
        labels.push_back(domain.substr(0, dot));
        if (dot == std::string_view::npos) return labels;
        domain.remove_prefix(dot + 1);
    }
}

bool is_ace_label(std::string_view label) {
    return http::equal_without_case(label.substr(0, 4), "xn--");
}

/// Nothing that UTS #46 could map but the case of its letters.
bool is_plain_domain(std::string_view domain) {
    if (!std::ranges::all_of(domain, [](char c) { return static_cast<signed char>(c) >= 0; })) {
        return false;
    }
    // No label begins with "xn--": nearly no domain holds two hyphens in a row.
    return domain.find("--") == std::string_view::npos ||
           std::ranges::none_of(split_labels(domain), is_ace_label);
}

const UIDNA& uts46() {
    static const UIDNA* const opened = [] {
        UErrorCode code = U_ZERO_ERROR;
        const UIDNA* idna =
            uidna_openUTS46(UIDNA_CHECK_BIDI | UIDNA_CHECK_CONTEXTJ |
                                UIDNA_NONTRANSITIONAL_TO_ASCII | UIDNA_NONTRANSITIONAL_TO_UNICODE,
                            &code);
        TENON_ASSERT(U_SUCCESS(code));
        return idna;
    }();
    return *opened;
}

/// The URL standard asks neither for hyphen rules nor for DNS lengths; ICU always reports them.
constexpr std::uint32_t ignored_idna_errors =
    UIDNA_ERROR_EMPTY_LABEL | UIDNA_ERROR_LABEL_TOO_LONG | UIDNA_ERROR_DOMAIN_NAME_TOO_LONG |
    UIDNA_ERROR_LEADING_HYPHEN | UIDNA_ERROR_TRAILING_HYPHEN | UIDNA_ERROR_HYPHEN_3_4;

std::optional<std::string> international_to_ascii(std::string_view domain) {
    std::string ascii(domain.size() * 6 + 64, '\0');
    for (;;) {
        UIDNAInfo info = UIDNA_INFO_INITIALIZER;
        UErrorCode code = U_ZERO_ERROR;
        const std::int32_t size = uidna_nameToASCII_UTF8(
            &uts46(), domain.data(), static_cast<std::int32_t>(domain.size()), ascii.data(),
            static_cast<std::int32_t>(ascii.size()), &info, &code);
        if (code == U_BUFFER_OVERFLOW_ERROR) {
            ascii.resize(static_cast<std::size_t>(size));
            continue;
        }
        if (U_FAILURE(code) || (info.errors & ~ignored_idna_errors) != 0) return std::nullopt;
        ascii.resize(static_cast<std::size_t>(size));
        break;
    }
    // Punycode that stands for plain ASCII is another spelling of a domain that has one already.
    const auto encodes_ascii = [](std::string_view label) {
        return is_ace_label(label) && label.ends_with('-');
    };
    if (std::ranges::any_of(split_labels(ascii), encodes_ascii)) return std::nullopt;
    return ascii;
}

std::optional<std::string> domain_to_ascii(std::string_view domain) {
    if (!is_plain_domain(domain)) return international_to_ascii(domain);
    std::string ascii(domain);
    std::ranges::transform(ascii, ascii.begin(), http::lower);
    return ascii;
}

constexpr std::array<bool, 256> forbidden_bytes = [] {
    std::array<bool, 256> forbidden{};
    for (std::size_t byte = 0; byte < forbidden.size(); ++byte) {
        forbidden[byte] = byte <= 0x20 || byte >= 0x7f;
    }
    for (const char c : std::string_view("#/:<>?@[\\]^|%")) {
        forbidden[static_cast<unsigned char>(c)] = true;
    }
    return forbidden;
}();

constexpr bool is_forbidden(char c) {
    return forbidden_bytes[static_cast<unsigned char>(c)];
}

/// One part of an IPv4 address: decimal, octal after 0, hexadecimal after 0x; at most 2^32.
std::optional<std::uint64_t> read_ipv4_part(std::string_view part) {
    if (part.empty()) return std::nullopt;
    unsigned radix = 10;
    if (part.size() >= 2 && http::equal_without_case(part.substr(0, 2), "0x")) {
        radix = 16;
        part.remove_prefix(2);
    } else if (part.size() >= 2 && part.front() == '0') {
        radix = 8;
        part.remove_prefix(1);
    }
    constexpr std::uint64_t beyond = std::uint64_t{1} << 32;
    std::uint64_t value = 0;
    for (const char c : part) {
        const auto digit = hex_value(c);
        if (!digit || *digit >= radix) return std::nullopt;
        value = std::min(value * radix + *digit, beyond);
    }
    return value;
}

/// The labels of a domain, but for the empty one behind a last dot.
std::vector<std::string_view> address_parts(std::string_view domain) {
    auto parts = split_labels(domain);
    if (parts.size() > 1 && parts.back().empty()) parts.pop_back();
    return parts;
}

/// Whether a domain can only be meant as an IPv4 address.
bool ends_in_number(std::string_view domain) {
    if (domain.ends_with('.')) domain.remove_suffix(1);
    const std::string_view last = domain.substr(domain.rfind('.') + 1);
    if (last.empty()) return false;
    return std::ranges::all_of(last, is_digit) || read_ipv4_part(last).has_value();
}

std::optional<std::string> ipv4_of(std::string_view domain) {
    const auto parts = address_parts(domain);
    if (parts.size() > 4) return std::nullopt;
    std::uint64_t address = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const auto value = read_ipv4_part(parts[i]);
        if (!value) return std::nullopt;
        // The last part fills all the bytes that are left.
        const bool last = i + 1 == parts.size();
        const std::size_t bits = last ? 8 * (4 - i) : 8;
        if (*value >= std::uint64_t{1} << bits) return std::nullopt;
        address = address << bits | *value;
    }
    return fmt::format("{}.{}.{}.{}", address >> 24, address >> 16 & 255, address >> 8 & 255,
                       address & 255);
}

std::optional<Groups> read_ipv6(std::string_view text) {
    // What the C library would take beyond the standard (zones, NUL) is kept out here.
    const auto allowed = [](char c) { return hex_value(c) || c == ':' || c == '.'; };
    if (!std::ranges::all_of(text, allowed)) return std::nullopt;
    std::array<std::uint8_t, 16> bytes{};
    if (inet_pton(AF_INET6, std::string(text).c_str(), bytes.data()) != 1) return std::nullopt;
    Groups groups{};
    for (std::size_t i = 0; i < groups.size(); ++i) {
        groups[i] = static_cast<std::uint16_t>(bytes[2 * i] << 8 | bytes[2 * i + 1]);
    }
    return groups;
}

struct Run {
    std::size_t begin = 0;
    std::size_t size = 0;
};

/// The first of the longest runs of zero groups.
Run longest_zeros(const Groups& groups) {
    Run longest;
    Run run;
    for (std::size_t i = 0; i < groups.size(); ++i) {
        run = groups[i] != 0 ? Run{i + 1, 0} : Run{run.begin, run.size + 1};
        if (run.size > longest.size) longest = run;
    }
    return longest;
}

std::string format_ipv6(const Groups& groups) {
    const Run zeros = longest_zeros(groups);
    std::string text = "[";
    for (std::size_t i = 0; i < groups.size(); ++i) {
        if (zeros.size > 1 && i == zeros.begin) {
            text += i == 0 ? "::" : ":";
            i += zeros.size - 1;
            continue;
        }
        text += fmt::format("{:x}", groups[i]);
        if (i + 1 < groups.size()) text += ':';
    }
    text += ']';
    return text;
}

}  // namespace

std::unexpected<base::Error> refuse_target(std::string rule) {
    return base::fail(base::Error(errors::invalid_target, std::move(rule))
                          .add_field("/url", "an absolute http or https URL"));
}

base::Result<std::string> parse_host(std::string_view text) {
    if (text.starts_with('[')) {
        const auto groups = text.ends_with(']') ? read_ipv6(text.substr(1, text.size() - 2))
                                                : std::optional<Groups>();
        if (!groups) return refuse_target("What stands in brackets is not an IPv6 address");
        return format_ipv6(*groups);
    }
    const std::string domain = percent_decode(text);
    if (!runtime::is_utf8(domain)) return refuse_target("The host is not valid UTF-8");
    auto ascii = domain_to_ascii(domain);
    if (!ascii) return refuse_target("The host is not a valid internationalised domain name");
    if (ascii->empty()) return refuse_target("The host is empty");
    if (std::ranges::any_of(*ascii, is_forbidden)) {
        return refuse_target("The host holds a character that no domain name may have");
    }
    if (!ends_in_number(*ascii)) return std::move(*ascii);
    auto address = ipv4_of(*ascii);
    if (!address) return refuse_target("The host ends in a number but is not an IPv4 address");
    return std::move(*address);
}

}  // namespace tenon::links
