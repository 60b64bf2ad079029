#include "runtime/option_codec.hpp"

#include <charconv>
#include <cmath>

#include "runtime/json_text.hpp"

namespace tenon::runtime {
namespace {

template <class T>
std::optional<T> parse_whole(std::string_view text) {
    T value{};
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || stop != end) return std::nullopt;
    return value;
}

// The string of a value that may be read as another type: not one that TOML calls a string.
const std::string* loose_text(const OptionValue& value) {
    return value.is_text ? std::get_if<std::string>(&value.value) : nullptr;
}

}  // namespace

std::optional<std::int64_t> parse_signed(std::string_view text) {
    return parse_whole<std::int64_t>(text);
}

std::optional<std::uint64_t> parse_unsigned(std::string_view text) {
    return parse_whole<std::uint64_t>(text);
}

std::optional<bool> option_bool(const OptionValue& value) {
    if (const auto* truth = std::get_if<bool>(&value.value)) return *truth;
    const std::string* text = loose_text(value);
    if (text == nullptr || (*text != "true" && *text != "false")) return std::nullopt;
    return *text == "true";
}

std::optional<double> option_double(const OptionValue& value) {
    std::optional<double> number;
    if (const auto* exact = std::get_if<double>(&value.value)) number = *exact;
    if (const auto* whole = std::get_if<std::int64_t>(&value.value)) {
        number = static_cast<double>(*whole);
    }
    if (const std::string* text = loose_text(value)) number = parse_whole<double>(*text);
    return number && std::isfinite(*number) ? number : std::nullopt;
}

std::optional<std::string> option_text(const OptionValue& value) {
    const auto* text = std::get_if<std::string>(&value.value);
    // No engine, file name or address takes U+0000.
    if (text == nullptr || text->find('\0') != std::string::npos) return std::nullopt;
    return *text;
}

std::optional<Texts> option_texts(const OptionValue& value) {
    if (const auto* list = std::get_if<Texts>(&value.value)) return *list;
    const std::string* text = loose_text(value);
    if (text == nullptr) return std::nullopt;
    Texts items;
    for (std::size_t at = 0; at < text->size();) {
        const std::size_t comma = std::min(text->find(',', at), text->size());
        std::string item = text->substr(at, comma - at);
        item.erase(0, item.find_first_not_of(' '));
        item.erase(item.find_last_not_of(' ') + 1);
        if (item.empty()) return std::nullopt;
        items.push_back(std::move(item));
        at = comma + 1;
    }
    return items;
}

std::optional<std::chrono::nanoseconds> option_duration(const OptionValue& value) {
    const auto* text = std::get_if<std::string>(&value.value);
    return text == nullptr ? std::nullopt : parse_duration(*text);
}

std::optional<std::uint64_t> option_bytes(const OptionValue& value) {
    if (const auto* text = std::get_if<std::string>(&value.value)) return parse_bytes(*text);
    return option_integer<std::uint64_t>(value);
}

std::string toml_text(std::string_view text) {
    std::string quoted;
    append_json_string(quoted, text);
    // JSON's escapes are TOML's, but TOML also escapes DEL.
    for (std::size_t at = quoted.find('\x7f'); at != std::string::npos;
         at = quoted.find('\x7f', at)) {
        quoted.replace(at, 1, "\\u007f");
    }
    return quoted;
}

std::string expect_range(std::string_view what, const std::string& low, const std::string& high) {
    return fmt::format("{}, from {} to {}", what, low, high);
}

}  // namespace tenon::runtime
