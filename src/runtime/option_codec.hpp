// Which types an option may have, how each is read and written.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <concepts>
#include <ratio>
#include <string>
#include <string_view>

#include "runtime/json_read.hpp"
#include "runtime/json_types.hpp"
#include "runtime/option.hpp"
#include "runtime/secret.hpp"
#include "runtime/units.hpp"

namespace tenon::runtime {

template <class T>
inline constexpr bool is_duration = false;
template <class Rep, class Period>
inline constexpr bool is_duration<std::chrono::duration<Rep, Period>> = true;

using Texts = std::vector<std::string>;

/// The value as a truth; nullopt when it is none. So for the other types below.
[[nodiscard]] std::optional<bool> option_bool(const OptionValue& value);
/// A finite number.
[[nodiscard]] std::optional<double> option_double(const OptionValue& value);
/// A text without U+0000.
[[nodiscard]] std::optional<std::string> option_text(const OptionValue& value);
/// A text of the environment or a flag holds items between commas.
[[nodiscard]] std::optional<Texts> option_texts(const OptionValue& value);
/// A text with a unit of time.
[[nodiscard]] std::optional<std::chrono::nanoseconds> option_duration(const OptionValue& value);
/// A byte count, also with a unit.
[[nodiscard]] std::optional<std::uint64_t> option_bytes(const OptionValue& value);
/// An integer of type T, within T.
template <std::integral T>
[[nodiscard]] std::optional<T> option_integer(const OptionValue& value);

/// A text as TOML's basic string.
[[nodiscard]] std::string toml_text(std::string_view text);
/// "an integer", then the doc's range within the type's.
[[nodiscard]] std::string expect_range(std::string_view what, const std::string& low,
                                       const std::string& high);

/// The integer that is the whole text.
[[nodiscard]] std::optional<std::int64_t> parse_signed(std::string_view text);
/// The same for what is never negative.
[[nodiscard]] std::optional<std::uint64_t> parse_unsigned(std::string_view text);

/// See above.
template <std::integral T>
std::optional<T> option_integer(const OptionValue& value) {
    if (const auto* number = std::get_if<std::int64_t>(&value.value)) {
        if (!std::in_range<T>(*number)) return std::nullopt;
        return static_cast<T>(*number);
    }
    const auto* text = std::get_if<std::string>(&value.value);
    if (text == nullptr || !value.is_text) return std::nullopt;
    const auto number = [&] {
        if constexpr (std::signed_integral<T>) return parse_signed(*text);
        if constexpr (std::unsigned_integral<T>) return parse_unsigned(*text);
    }();
    if (!number || !std::in_range<T>(*number)) return std::nullopt;
    return static_cast<T>(*number);
}

/// The doc's largest integer also stands for no bound above it.
template <std::integral T>
[[nodiscard]] bool is_within(T value, const OptionDoc& doc) {
    const bool is_open = doc.maximum == std::numeric_limits<std::int64_t>::max();
    return std::cmp_less_equal(doc.minimum, value) &&
           (is_open || std::cmp_less_equal(value, doc.maximum));
}

/// True for a duration within the doc's milliseconds, to the nanosecond.
template <class T>
[[nodiscard]] bool is_within_milliseconds(T value, const OptionDoc& doc) {
    const auto milliseconds = std::chrono::floor<std::chrono::milliseconds>(value);
    return is_within(std::int64_t{milliseconds.count()}, doc) &&
           (milliseconds.count() < doc.maximum || milliseconds == value);
}

/// Reads a value of the option's type; false when it is refused.
template <class T>
[[nodiscard]] bool read_option(const OptionValue& value, const OptionDoc& doc, T& into) {
    const auto take = [&into](auto read) {
        if (!read) return false;
        into = T(*std::move(read));
        return true;
    };
    if constexpr (is_optional<T>) {
        typename T::value_type inner{};
        if (!read_option(value, doc, inner)) return false;
        into = std::move(inner);
        return true;
    } else if constexpr (std::same_as<T, bool>) {
        return take(option_bool(value));
    } else if constexpr (std::integral<T>) {
        std::optional<T> number;
        if (doc.unit == "bytes") {
            const auto bytes = option_bytes(value);
            if (bytes && std::in_range<T>(*bytes)) number = static_cast<T>(*bytes);
        } else {
            number = option_integer<T>(value);
        }
        return number && is_within(*number, doc) && take(number);
    } else if constexpr (std::same_as<T, double>) {
        return take(option_double(value));
    } else if constexpr (is_duration<T>) {
        const auto exact = option_duration(value);
        if (!exact) return false;
        into = std::chrono::floor<T>(*exact);
        return into == *exact && is_within_milliseconds(*exact, doc);
    } else if constexpr (std::same_as<T, std::string> || std::same_as<T, Secret>) {
        return take(option_text(value));
    } else if constexpr (std::same_as<T, Texts>) {
        return take(option_texts(value));
    } else {
        static_assert(DescribedEnum<T>, "this type cannot be an option: see option_codec.hpp");
        const auto name = option_text(value);
        return name && read_enum(*name, into);
    }
}

/// The value as TOML; empty for an optional that is not set.
template <class T>
[[nodiscard]] std::string write_option(const T& value, const OptionDoc& doc) {
    if constexpr (is_optional<T>) {
        return value ? write_option(*value, doc) : "";
    } else if constexpr (std::same_as<T, bool>) {
        return value ? "true" : "false";
    } else if constexpr (std::integral<T>) {
        if (doc.unit != "bytes") return std::to_string(value);
        return toml_text(format_bytes(static_cast<std::uint64_t>(value)));
    } else if constexpr (std::same_as<T, double>) {
        const std::string text = fmt::format("{}", value);
        // TOML tells integers from floats by how they are written.
        return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
    } else if constexpr (is_duration<T>) {
        return toml_text(format_duration(value));
    } else if constexpr (std::same_as<T, std::string>) {
        return toml_text(value);
    } else if constexpr (std::same_as<T, Secret>) {
        return toml_text(value.reveal());
    } else if constexpr (std::same_as<T, Texts>) {
        Texts items;
        for (const std::string& item : value) items.push_back(toml_text(item));
        return fmt::format("[{}]", fmt::join(items, ", "));
    } else {
        std::string json;
        boost::mp11::mp_for_each<boost::describe::describe_enumerators<T>>([&](auto enumerator) {
            if (enumerator.value == value) json = toml_text(json_name(enumerator.name));
        });
        return json;
    }
}

/// The type's name in documents.
template <class T>
[[nodiscard]] std::string option_type(const OptionDoc& doc) {
    if constexpr (is_optional<T>) return option_type<typename T::value_type>(doc);
    if constexpr (std::same_as<T, bool>) return "true or false";
    if constexpr (std::same_as<T, double>) return "number";
    if constexpr (is_duration<T>) return "duration";
    if constexpr (std::same_as<T, std::string> || std::same_as<T, Secret>) return "text";
    if constexpr (std::same_as<T, Texts>) return "list of texts";
    if constexpr (DescribedEnum<T>) return expect_one_of(names_of<T>());
    return doc.unit == "bytes" ? "bytes" : "integer";
}

/// What an error says would have been accepted.
template <class T>
[[nodiscard]] std::string option_expected(const OptionDoc& doc) {
    if constexpr (is_optional<T>) {
        return option_expected<typename T::value_type>(doc);
    } else if constexpr (std::same_as<T, bool>) {
        return "true or false";
    } else if constexpr (std::integral<T>) {
        const T low = std::cmp_less(doc.minimum, std::numeric_limits<T>::min())
                          ? std::numeric_limits<T>::min()
                          : static_cast<T>(doc.minimum);
        const bool is_open = doc.maximum == std::numeric_limits<std::int64_t>::max();
        const T high = is_open || std::cmp_greater(doc.maximum, std::numeric_limits<T>::max())
                           ? std::numeric_limits<T>::max()
                           : static_cast<T>(doc.maximum);
        if (doc.unit != "bytes") {
            return expect_range("an integer", std::to_string(low), std::to_string(high));
        }
        return expect_range("a number of bytes such as 65536, 64KiB or 1MiB",
                            format_bytes(static_cast<std::uint64_t>(low)),
                            format_bytes(static_cast<std::uint64_t>(high)));
    } else if constexpr (is_duration<T>) {
        std::string what = "a duration such as 250ms, 5s or 24h";
        if (doc.maximum == std::numeric_limits<std::int64_t>::max()) return what;
        const auto text = [](std::int64_t milliseconds) {
            return format_duration(
                std::chrono::milliseconds(std::max<std::int64_t>(0, milliseconds)));
        };
        return expect_range(what, text(doc.minimum), text(doc.maximum));
    } else if constexpr (std::same_as<T, double>) {
        return "a number";
    } else if constexpr (std::same_as<T, Texts>) {
        return "a list of texts";
    } else if constexpr (DescribedEnum<T>) {
        return expect_one_of(names_of<T>());
    } else {
        return "a text";
    }
}

}  // namespace tenon::runtime
