// Structs to JSON; included by json.hpp.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>

#include "base/assert.hpp"
#include "base/rfc3339.hpp"
#include "runtime/json_text.hpp"
#include "runtime/json_types.hpp"

namespace tenon::runtime {

/// Appends any value that has a JSON form.
template <class T>
void append_json(std::string& out, const T& value);

/// Appends the shortest text that reads back as the same double. Expects: finite.
inline void append_json_double(std::string& out, double value) {
    TENON_ASSERT(std::isfinite(value));
    fmt::format_to(std::back_inserter(out), "{}", value);
}

/// Appends a described enumerator's name. Expects: a described value.
template <DescribedEnum T>
void append_json_enum(std::string& out, T value) {
    std::string_view name;
    boost::mp11::mp_for_each<boost::describe::describe_enumerators<T>>([&](auto enumerator) {
        if (enumerator.value == value) name = json_name(enumerator.name);
    });
    TENON_ASSERT(!name.empty());
    append_json_string(out, name);
}

/// True for an optional or a patch that is left out of its struct.
template <class T>
[[nodiscard]] bool is_left_out(const T& member) {
    if constexpr (is_optional<T>) {
        return !member.has_value();
    } else if constexpr (is_patch<T>) {
        return member.is_absent();
    } else {
        return false;
    }
}

/// `,"name":` of a described member, made by the compiler. Names are C++ identifiers: nothing in
/// them to escape.
template <class Member>
inline constexpr auto json_member_text = [] {
    constexpr std::string_view name = json_name(Member::name);
    std::array<char, name.size() + 4> text{',', '"'};
    std::copy(name.begin(), name.end(), text.begin() + 2);
    text[name.size() + 2] = '"';
    text[name.size() + 3] = ':';
    return text;
}();

/// Appends an object of the members that are not left out.
template <DescribedStruct T>
void append_json_struct(std::string& out, const T& value) {
    out += '{';
    std::size_t skipped = 1;  // the comma before the first member
    boost::mp11::mp_for_each<MembersOf<T>>([&](auto member) {
        const auto& field = value.*member.pointer;
        if (is_left_out(field)) return;
        const auto& text = json_member_text<decltype(member)>;
        out.append(text.data() + skipped, text.size() - skipped);
        skipped = 0;
        append_json(out, field);
    });
    out += '}';
}

/// Appends an array of all items.
template <class Items>
void append_json_array(std::string& out, const Items& items) {
    out += '[';
    bool is_first = true;
    for (const auto& item : items) {
        if (!is_first) out += ',';
        is_first = false;
        append_json(out, static_cast<const typename Items::value_type&>(item));
    }
    out += ']';
}

/// Appends an object of all entries in the order of their names.
template <class T>
void append_json_map(std::string& out, const std::map<std::string, T>& entries) {
    out += '{';
    bool is_first = true;
    for (const auto& [name, entry] : entries) {
        if (!is_first) out += ',';
        is_first = false;
        append_json_string(out, name);
        out += ':';
        append_json(out, entry);
    }
    out += '}';
}

/// Appends any value that has a JSON form.
template <class T>
void append_json(std::string& out, const T& value) {
    if constexpr (std::same_as<T, bool>) {
        out += value ? "true" : "false";
    } else if constexpr (std::integral<T>) {
        const fmt::format_int digits(value);
        out.append(digits.data(), digits.size());
    } else if constexpr (std::same_as<T, double>) {
        append_json_double(out, value);
    } else if constexpr (std::same_as<T, std::string>) {
        append_json_string(out, value);
    } else if constexpr (std::same_as<T, base::Time>) {
        out += '"';
        base::append_time(out, value);
        out += '"';
    } else if constexpr (is_optional<T> || is_patch<T>) {
        if (value.has_value()) {
            append_json(out, value.value());
        } else {
            out += "null";
        }
    } else if constexpr (is_vector<T>) {
        append_json_array(out, value);
    } else if constexpr (is_string_map<T>) {
        append_json_map(out, value);
    } else if constexpr (DescribedEnum<T>) {
        append_json_enum(out, value);
    } else {
        static_assert(DescribedStruct<T>, "this type has no JSON form: see to_json in json.hpp");
        append_json_struct(out, value);
    }
}

}  // namespace tenon::runtime
