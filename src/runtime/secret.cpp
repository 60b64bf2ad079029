#include "runtime/secret.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace tenon::runtime {
namespace {

bool is_token_character(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.' ||
           c == '~' || c == '+' || c == '/' || c == '=';
}

char lower(char c) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

std::size_t find_without_case(std::string_view text, std::string_view what, std::size_t from) {
    const auto begin = text.begin() + static_cast<std::ptrdiff_t>(std::min(from, text.size()));
    const auto found = std::search(begin, text.end(), what.begin(), what.end(),
                                   [](char a, char b) { return lower(a) == b; });
    return found == text.end() ? std::string_view::npos
                               : static_cast<std::size_t>(found - text.begin());
}

std::size_t skip_token(std::string_view text, std::size_t at) {
    while (at < text.size() && is_token_character(text[at])) ++at;
    return at;
}

// A conninfo's value: quoted with backslash escapes, or up to white space.
std::size_t skip_conninfo_value(std::string_view text, std::size_t at) {
    if (at < text.size() && text[at] == '\'') {
        for (++at; at < text.size() && text[at] != '\''; ++at) {
            if (text[at] == '\\') ++at;
        }
        return std::min(at + 1, text.size());
    }
    while (at < text.size() && text[at] != ' ' && text[at] != '&' && text[at] != '"') ++at;
    return at;
}

// The marker stays; what `skip` passes over after it is masked.
struct Rule {
    std::string_view marker;
    std::size_t (*skip)(std::string_view, std::size_t);
};

constexpr std::array rules{
    Rule{"tnk_", skip_token},
    Rule{"bearer ", skip_token},
    Rule{"password=", skip_conninfo_value},
};

std::string mask_after(std::string text, const Rule& rule) {
    std::size_t at = find_without_case(text, rule.marker, 0);
    while (at != std::string::npos) {
        const std::size_t from = at + rule.marker.size();
        const std::size_t to = rule.skip(text, from);
        if (to > from) text.replace(from, to - from, secret_mask);
        at = find_without_case(text, rule.marker, from);
    }
    return text;
}

// scheme://user:password@host
std::string mask_url_passwords(std::string text) {
    std::size_t at = text.find("://");
    while (at != std::string::npos) {
        const std::size_t from = at + 3;
        const std::size_t end = std::min(text.find_first_of("/?# \"'", from), text.size());
        const std::size_t sign = text.substr(from, end - from).rfind('@');
        const std::size_t colon = text.find(':', from);
        if (sign != std::string::npos && colon < from + sign) {
            text.replace(colon + 1, from + sign - colon - 1, secret_mask);
        }
        at = text.find("://", from);
    }
    return text;
}

}  // namespace

std::string mask_secrets(std::string_view text) {
    std::string masked(text);
    for (const Rule& rule : rules) masked = mask_after(std::move(masked), rule);
    return mask_url_passwords(std::move(masked));
}

bool names_secret(std::string_view name) {
    constexpr std::array<std::string_view, 7> words{
        "password", "passphrase", "secret", "token", "authorization", "credential", "cookie"};
    const auto is_in = [&](std::string_view word) {
        return find_without_case(name, word, 0) != std::string_view::npos;
    };
    if (std::any_of(words.begin(), words.end(), is_in)) return true;
    return name.ends_with("_key") && name != "idempotency_key" && name != "shard_key";
}

}  // namespace tenon::runtime
