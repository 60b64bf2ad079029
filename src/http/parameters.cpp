#include "http/parameters.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "http/text.hpp"
#include "runtime/json_text.hpp"
#include "runtime/nearest.hpp"

namespace tenon::http {

namespace {

int digit_of(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    c = lower(c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// Names come from outside: what an error repeats of them is short and plain.
std::string quoted(std::string_view name) {
    constexpr std::size_t repeated_max = 64;
    return std::string(name.substr(0, repeated_max));
}

}  // namespace

std::optional<std::string> decode_percent(std::string_view text, bool plus_is_space) {
    std::string plain;
    plain.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '+' && plus_is_space) {
            plain.push_back(' ');
        } else if (text[i] != '%') {
            plain.push_back(text[i]);
        } else {
            if (text.size() - i < 3) return std::nullopt;
            const int high = digit_of(text[i + 1]);
            const int low = digit_of(text[i + 2]);
            if (high < 0 || low < 0) return std::nullopt;
            plain.push_back(static_cast<char>(high * 16 + low));
            i += 2;
        }
    }
    if (plain.find('\0') != std::string::npos || !runtime::is_utf8(plain)) return std::nullopt;
    return plain;
}

GivenParameters::GivenParameters(const Request& request, const Route& route) {
    for (std::size_t i = 0; i < route.captures_count; ++i) {
        add(route.endpoint->capture_names[i], route.captures[i], true);
    }
    std::string_view left = request.query;
    while (!left.empty()) {
        const std::size_t end = std::min(left.find('&'), left.size());
        const std::string_view pair = left.substr(0, end);
        left.remove_prefix(std::min(end + 1, left.size()));
        if (pair.empty()) continue;
        const std::size_t mark = std::min(pair.find('='), pair.size());
        add(pair.substr(0, mark), pair.substr(std::min(mark + 1, pair.size())), false);
    }
}

void GivenParameters::add(std::string_view name, std::string_view value, bool from_path) {
    auto plain_name = decode_percent(name, !from_path);
    auto plain_value = decode_percent(value, !from_path);
    if (!plain_name || !plain_value) {
        return refuse(quoted(plain_name ? *plain_name : name),
                      "percent-encoded UTF-8 without U+0000");
    }
    const bool again =
        std::ranges::any_of(given_, [&](const Given& other) { return other.name == *plain_name; });
    if (again) return refuse(quoted(*plain_name), "to be given once");
    given_.push_back({std::move(*plain_name), std::move(*plain_value), from_path, false});
}

const std::string* GivenParameters::take(std::string_view name) {
    const auto found = std::ranges::find(given_, name, &Given::name);
    if (found == given_.end()) return nullptr;
    found->taken = true;
    return &found->value;
}

void GivenParameters::refuse_unknown(const std::vector<std::string_view>& known) {
    for (const Given& one : given_) {
        if (one.taken) continue;
        const auto near = runtime::nearest_name(one.name, known);
        refuse(quoted(one.name), near ? fmt::format("no such parameter; did you mean {}?", *near)
                                      : std::string("no such parameter"));
    }
}

void GivenParameters::refuse(std::string_view name, std::string expected) {
    const bool known = std::ranges::any_of(
        errors_, [&](const base::FieldError& error) { return error.pointer == name; });
    if (!known) errors_.push_back({std::string(name), std::move(expected)});
}

namespace detail {

std::string assign(std::string& target, const std::string& text, const FieldSpec& field) {
    target = text;
    // A character takes at least one byte, so most texts need no count.
    const std::size_t most = bounds_of(field).length_max;
    if (text.size() <= most || runtime::count_characters(text) <= most) return {};
    return fmt::format("at most {} characters", most);
}

std::string assign(bool& target, const std::string& text, const FieldSpec&) {
    target = text == "true";
    return target || text == "false" ? std::string() : std::string("true or false");
}

std::string expected_integer(std::int64_t least, std::uint64_t most) {
    return fmt::format("an integer from {} to {}", least, most);
}

base::Error parameters_refused(FieldErrors errors) {
    base::Error error(errors::invalid_parameters,
                      "Correct the parameters listed under errors and send the request again.");
    for (base::FieldError& field : errors) {
        error.add_field(std::move(field.pointer), std::move(field.expected));
    }
    return error;
}

}  // namespace detail

}  // namespace tenon::http
