#include "services/links/target.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include <fmt/format.h>

#include "http/text.hpp"
#include "runtime/json_text.hpp"
#include "services/links/target_host.hpp"

namespace tenon::links {
namespace {

/// Which bytes a part of a URL does not carry as they are.
using EncodeSet = std::array<bool, 256>;

constexpr EncodeSet encode_controls_and(std::string_view others) {
    EncodeSet set{};
    for (std::size_t byte = 0; byte < set.size(); ++byte) set[byte] = byte < 0x20 || byte > 0x7e;
    for (const char c : others) set[static_cast<unsigned char>(c)] = true;
    return set;
}

constexpr EncodeSet path_set = encode_controls_and(" \"#<>?^`{}");
constexpr EncodeSet query_set = encode_controls_and(" \"#<>'");
constexpr EncodeSet fragment_set = encode_controls_and(" \"<>`");

void append_encoded(std::string& out, std::string_view text, const EncodeSet& set) {
    static constexpr std::string_view digits = "0123456789ABCDEF";
    while (!text.empty()) {
        const auto kept =
            std::ranges::find_if(text, [&](char c) { return set[static_cast<unsigned char>(c)]; });
        out.append(text.begin(), kept);
        text.remove_prefix(static_cast<std::size_t>(kept - text.begin()));
        if (text.empty()) return;
        const auto byte = static_cast<unsigned char>(text.front());
        const std::array<char, 3> encoded{'%', digits[byte >> 4], digits[byte & 15]};
        out.append(encoded.data(), encoded.size());
        text.remove_prefix(1);
    }
}

/// Cuts off what stands before the first of `ends`; `rest` begins with that character or is empty.
template <class... End>
std::string_view take_until(std::string_view& rest, End... ends) {
    const auto end = std::ranges::find_if(rest, [&](char c) { return ((c == ends) || ...); });
    const std::string_view taken(rest.begin(), end);
    rest.remove_prefix(taken.size());
    return taken;
}

/// Without spaces and controls around it, and without tabs and newlines anywhere.
std::string strip(std::string_view url) {
    const auto blank = [](char c) { return static_cast<unsigned char>(c) <= 0x20; };
    while (!url.empty() && blank(url.front())) url.remove_prefix(1);
    while (!url.empty() && blank(url.back())) url.remove_suffix(1);
    std::string stripped(url);
    const auto breaks = [](char c) { return c == '\t' || c == '\n' || c == '\r'; };
    if (std::ranges::any_of(stripped, breaks)) std::erase_if(stripped, breaks);
    return stripped;
}

bool is_scheme(std::string_view text) {
    const auto letter = [](char c) { return http::lower(c) >= 'a' && http::lower(c) <= 'z'; };
    const auto allowed = [&](char c) {
        return letter(c) || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
    };
    return !text.empty() && letter(text.front()) && std::ranges::all_of(text, allowed);
}

/// Takes the scheme and its colon.
base::Result<std::string> read_scheme(std::string_view& rest) {
    const std::size_t colon = rest.find(':');
    if (colon == std::string_view::npos || !is_scheme(rest.substr(0, colon))) {
        return refuse_target("The URL has no scheme: begin with https:// or http://");
    }
    std::string scheme(rest.substr(0, colon));
    std::ranges::transform(scheme, scheme.begin(), http::lower);
    if (scheme != "http" && scheme != "https") {
        constexpr std::size_t shown_max = 32;
        return refuse_target(fmt::format("Links lead to http and https only, not to {}:",
                                         std::string_view(scheme).substr(0, shown_max)));
    }
    rest.remove_prefix(colon + 1);
    return scheme;
}

/// The port behind its colon; nullopt when there is none or it is the scheme's own.
base::Result<std::optional<std::uint32_t>> read_port(std::string_view text,
                                                     std::string_view scheme) {
    if (text.empty()) return std::nullopt;
    std::uint32_t port = 0;
    for (const char c : text) {
        if (c < '0' || c > '9') return refuse_target("The port is not a number");
        port = port * 10 + static_cast<std::uint32_t>(c - '0');
        if (port > 65'535) return refuse_target("The port is over 65535");
    }
    if (port == (scheme == "http" ? 80 : 443)) return std::nullopt;
    return port;
}

/// Takes the authority and gives back host and port as they are written.
base::Result<std::string> read_authority(std::string_view& rest, std::string_view scheme) {
    rest.remove_prefix(std::min(rest.find_first_not_of("/\\"), rest.size()));
    const std::string_view authority = take_until(rest, '/', '\\', '?', '#');
    if (authority.find('@') != std::string_view::npos) {
        return refuse_target(
            "A user name or password before @ hides where the link leads: leave it out");
    }
    // A colon within brackets belongs to the address.
    const std::size_t bracket = authority.starts_with('[') ? authority.find(']') : 0;
    const std::size_t colon =
        bracket == std::string_view::npos ? bracket : authority.find(':', bracket);
    const std::string_view written = authority.substr(0, colon);
    if (written.empty()) return refuse_target("The host is empty");
    auto host = parse_host(written);
    if (!host || colon == std::string_view::npos) return host;
    const auto port = read_port(authority.substr(colon + 1), scheme);
    if (!port) return std::unexpected(port.error());
    if (*port) *host += fmt::format(":{}", **port);
    return host;
}

/// 1 for ".", 2 for "..", each dot also as %2e; 0 for every other segment.
int dots_of(std::string_view segment) {
    int dots = 0;
    while (!segment.empty()) {
        const bool plain = segment.front() == '.';
        if (!plain && !http::equal_without_case(segment.substr(0, 3), "%2e")) return 0;
        segment.remove_prefix(plain ? 1 : 3);
        if (++dots > 2) return 0;
    }
    return dots;
}

/// Takes the path, beginning with its slash if it has one.
std::string read_path(std::string_view& rest) {
    std::string path;
    path.reserve(rest.size());
    bool more = true;
    if (rest.starts_with('/') || rest.starts_with('\\')) rest.remove_prefix(1);
    while (more) {
        const std::string_view segment = take_until(rest, '/', '\\', '?', '#');
        more = rest.starts_with('/') || rest.starts_with('\\');
        if (more) rest.remove_prefix(1);
        const int dots = dots_of(segment);
        if (dots == 2 && !path.empty()) path.resize(path.rfind('/'));
        if (dots == 0) {
            path += '/';
            append_encoded(path, segment, path_set);
        } else if (!more) {
            path += '/';
        }
    }
    return path;
}

}  // namespace

base::Result<std::string> parse_target(std::string_view url) {
    if (url.size() > target_bytes_max) return refuse_target("The URL is over 8192 bytes");
    if (!runtime::is_utf8(url)) return refuse_target("The URL is not valid UTF-8");
    if (url.find('\0') != std::string_view::npos) return refuse_target("The URL holds U+0000");

    const std::string stripped = strip(url);
    std::string_view rest = stripped;
    const auto scheme = read_scheme(rest);
    if (!scheme) return scheme;
    const auto authority = read_authority(rest, *scheme);
    if (!authority) return authority;

    std::string target;
    target.reserve(stripped.size() + 16);
    target.append(*scheme).append("://").append(*authority).append(read_path(rest));
    if (rest.starts_with('?')) {
        rest.remove_prefix(1);
        target += '?';
        append_encoded(target, take_until(rest, '#'), query_set);
    }
    if (rest.starts_with('#')) {
        rest.remove_prefix(1);
        target += '#';
        append_encoded(target, rest, fragment_set);
    }
    if (target.size() > target_bytes_max) {
        return refuse_target("The URL is over 8192 bytes once its characters are percent-encoded");
    }
    return target;
}

std::string_view host_of(std::string_view serialised) {
    std::string_view authority = serialised.substr(serialised.find("://") + 3);
    authority = take_until(authority, '/');
    if (authority.starts_with('[')) return authority.substr(0, authority.find(']') + 1);
    return authority.substr(0, authority.find(':'));
}

std::string append_query(std::string_view serialised, std::string_view raw_query) {
    if (raw_query.empty()) return std::string(serialised);
    std::string_view fragment = serialised;
    std::string target(take_until(fragment, '#'));
    const std::size_t mark = target.find('?');
    if (mark == std::string::npos) {
        target += '?';
    } else if (mark + 1 < target.size() && !target.ends_with('&')) {
        target += '&';
    }
    static constexpr EncodeSet breaking = [] {
        EncodeSet set{};
        for (std::size_t byte = 0; byte <= 0x20; ++byte) set[byte] = true;
        set[0x7f] = set['#'] = true;
        return set;
    }();
    append_encoded(target, raw_query, breaking);
    target += fragment;
    return target;
}

}  // namespace tenon::links
