#include "http/forwarded.hpp"

#include <algorithm>

#include "http/text.hpp"

namespace tenon::http {

namespace {

// "192.0.2.1", "192.0.2.1:4711", "[2001:db8::1]", "[2001:db8::1]:4711" and, where `bare_v6` is
// allowed, "2001:db8::1".
std::optional<IpAddress> parse_node(std::string_view node, bool bare_v6) {
    if (node.starts_with('[')) {
        const auto close = node.find(']');
        if (close == std::string_view::npos) return std::nullopt;
        const std::string_view behind = node.substr(close + 1);
        if (!behind.empty() && (behind.front() != ':' || !is_port(behind.substr(1)))) {
            return std::nullopt;
        }
        const std::string_view inside = node.substr(1, close - 1);
        return inside.contains(':') ? parse_address(inside) : std::nullopt;
    }
    const auto colon = node.find(':');
    if (colon == std::string_view::npos) return parse_address(node);
    if (node.find(':', colon + 1) != std::string_view::npos) {
        return bare_v6 ? parse_address(node) : std::nullopt;
    }
    return is_port(node.substr(colon + 1)) ? parse_address(node.substr(0, colon)) : std::nullopt;
}

// Where the quoted string that ends before `end` begins; npos when it does not.
std::size_t find_opening_quote(std::string_view text, std::size_t end) {
    for (std::size_t at = end; at-- > 0;) {
        if (text[at] != '"') continue;
        const std::string_view before = text.substr(0, at);
        const std::size_t backslashes = at - (before.find_last_not_of('\\') + 1);
        if (backslashes % 2 == 0) return at;
    }
    return std::string_view::npos;
}

// Takes the last piece of a list off it. Quotes are paired from the right, since the right end is
// what a proxy wrote: a quote that a client left open further left hides nothing.
std::string_view take_last(std::string_view& list, char separator) {
    std::size_t at = list.size();
    while (at > 0 && list[at - 1] != separator) {
        --at;
        if (list[at] != '"') continue;
        const std::size_t opening = find_opening_quote(list, at);
        if (opening == std::string_view::npos) {
            at = 0;
            break;
        }
        at = opening;
    }
    const std::string_view last = list.substr(at);
    list = list.substr(0, at > 0 ? at - 1 : 0);
    return trim(last);
}

/// Pieces of all header lines of one name, from the right.
class Backwards {
public:
    Backwards(const Request& request, std::string_view name)
        : headers_(request.headers), left_(request.headers.size()), name_(name) {}

    /// The next piece that is not empty; nullopt at the end.
    std::optional<std::string_view> next() {
        for (;;) {
            while (!line_.empty()) {
                const std::string_view piece = take_last(line_, ',');
                if (!piece.empty()) return piece;
            }
            while (left_ > 0 && !equal_without_case(headers_[left_ - 1].name, name_)) --left_;
            if (left_ == 0) return std::nullopt;
            line_ = headers_[--left_].value;
        }
    }

private:
    const std::vector<Header>& headers_;
    std::size_t left_;
    std::string_view name_;
    std::string_view line_;
};

std::optional<bool> read_scheme(std::string_view text) {
    if (equal_without_case(text, "https")) return true;
    if (equal_without_case(text, "http")) return false;
    return std::nullopt;
}

/// One element of Forwarded.
struct Element {
    std::optional<IpAddress> address;  ///< nullopt: hidden, or nothing that can be read
    std::optional<bool> secure;
};

// What is quoted without a quoted-pair, which addresses and schemes have no need of.
std::string_view unquote(std::string_view text) {
    if (text.size() < 2 || text.front() != '"' || text.back() != '"') return text;
    return text.substr(1, text.size() - 2);
}

Element read_element(std::string_view text) {
    Element element;
    bool seen_for = false;
    while (!text.empty()) {
        const std::string_view pair = take_last(text, ';');
        const auto equals = pair.find('=');
        if (equals == std::string_view::npos) {
            if (pair.empty()) continue;
            return {};
        }
        const std::string_view name = pair.substr(0, equals);
        const std::string_view value = unquote(pair.substr(equals + 1));
        if (equal_without_case(name, "proto")) element.secure = read_scheme(value);
        if (!equal_without_case(name, "for")) continue;
        // Named twice, nobody knows which one is meant.
        if (seen_for) return {};
        seen_for = true;
        element.address = parse_node(value, false);
    }
    return element;
}

/// What a list of hops says, before X-Forwarded-Proto is asked.
struct Search {
    Origin origin;
    std::size_t proxies = 1;  ///< trusted ones, the peer among them
};

// True when the search goes on further left.
bool take_hop(Search& search, const std::optional<IpAddress>& hop, const Networks& trusted) {
    if (!hop) return false;
    search.origin.address = *hop;
    if (!trusted.contains(*hop)) return false;
    ++search.proxies;
    return true;
}

void search_forwarded(const Request& request, const Networks& trusted, Search& search) {
    Backwards elements(request, "Forwarded");
    while (const auto text = elements.next()) {
        const Element element = read_element(*text);
        if (element.secure || element.address) search.origin.secure = element.secure;
        if (!take_hop(search, element.address, trusted)) return;
    }
}

void read_forwarded_proto(const Request& request, Search& search) {
    Backwards schemes(request, "X-Forwarded-Proto");
    std::optional<std::string_view> told;
    for (std::size_t i = 0; i < search.proxies; ++i) {
        const auto further = schemes.next();
        if (!further) break;
        told = further;
    }
    if (told) search.origin.secure = read_scheme(*told);
}

}  // namespace

Origin find_origin(const Request& request, const IpAddress& peer, const Networks& trusted) {
    Search search{.origin = {.address = peer, .secure = std::nullopt}};
    if (request.header("X-Forwarded-For")) {
        Backwards hops(request, "X-Forwarded-For");
        while (const auto hop = hops.next()) {
            if (!take_hop(search, parse_node(*hop, true), trusted)) break;
        }
    } else {
        search_forwarded(request, trusted, search);
    }
    if (!search.origin.secure) read_forwarded_proto(request, search);
    return search.origin;
}

}  // namespace tenon::http
