// JSON to structs; included by json.hpp.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "base/rfc3339.hpp"
#include "runtime/json_reader.hpp"
#include "runtime/json_text.hpp"
#include "runtime/json_types.hpp"

namespace tenon::runtime {

/// Reads any value that has a JSON form; refuses at the reader what does not fit.
template <class T, template <class> class Bounds>
void read_value(JsonReader& reader, JsonTree::Index node, T& into, const MemberBounds& bounds);

/// The JSON names of an enum's values, in the order of their description.
template <DescribedEnum T>
[[nodiscard]] constexpr auto names_of() {
    constexpr std::size_t count = boost::mp11::mp_size<boost::describe::describe_enumerators<T>>();
    std::array<std::string_view, count> names;
    std::size_t at = 0;
    boost::mp11::mp_for_each<boost::describe::describe_enumerators<T>>(
        [&](auto enumerator) { names[at++] = json_name(enumerator.name); });
    return names;
}

/// The smallest and the largest integer of a type within bounds; both of type T.
template <std::integral T>
struct IntegerRange {
    explicit IntegerRange(const MemberBounds& bounds) {
        if (!bounds.has_range()) return;
        if (std::cmp_greater(bounds.minimum, low)) low = static_cast<T>(bounds.minimum);
        if (std::cmp_less(bounds.maximum, high)) high = static_cast<T>(bounds.maximum);
    }
    T low = std::numeric_limits<T>::min();
    T high = std::numeric_limits<T>::max();
};

/// What a value of this type would have been, as errors say it.
template <class T>
[[nodiscard]] std::string expectation(const MemberBounds& bounds) {
    if constexpr (std::same_as<T, bool>) {
        return "true or false";
    } else if constexpr (std::integral<T>) {
        const IntegerRange<T> range(bounds);
        if constexpr (std::signed_integral<T>) return expect_signed(range.low, range.high);
        if constexpr (std::unsigned_integral<T>) return expect_unsigned(range.low, range.high);
    } else if constexpr (std::same_as<T, double>) {
        return "a number";
    } else if constexpr (std::same_as<T, std::string>) {
        return expect_length("a string", bounds.length_max, "characters");
    } else if constexpr (std::same_as<T, base::Time>) {
        return "a time by RFC 3339, such as 2026-11-30T15:44:26Z";
    } else if constexpr (is_optional<T> || is_patch<T>) {
        return expectation<std::decay_t<decltype(std::declval<T>().value())>>(bounds) + " or null";
    } else if constexpr (is_vector<T>) {
        return expect_length("an array", bounds.length_max, "items");
    } else if constexpr (is_string_map<T>) {
        return expect_length("an object", bounds.length_max, "members");
    } else if constexpr (DescribedEnum<T>) {
        return expect_one_of(names_of<T>());
    } else {
        static_assert(DescribedStruct<T>, "this type has no JSON form: see from_json in json.hpp");
        return "an object";
    }
}

/// Reads an integer of any width; false when it is none or out of range.
template <std::integral T>
[[nodiscard]] bool read_integer(const JsonTree& tree, JsonTree::Index node, T& into,
                                const MemberBounds& bounds) {
    const IntegerRange<T> range(bounds);
    if constexpr (std::signed_integral<T>) {
        std::int64_t value = 0;
        if (!read_signed(tree, node, range.low, range.high, value)) return false;
        into = static_cast<T>(value);
    } else {
        std::uint64_t value = 0;
        if (!read_unsigned(tree, node, range.low, range.high, value)) return false;
        into = static_cast<T>(value);
    }
    return true;
}

/// Reads the enum value of that name; false when there is none.
template <DescribedEnum T>
[[nodiscard]] bool read_enum(std::string_view text, T& into) {
    bool is_found = false;
    boost::mp11::mp_for_each<boost::describe::describe_enumerators<T>>([&](auto enumerator) {
        if (json_name(enumerator.name) != text) return;
        into = enumerator.value;
        is_found = true;
    });
    return is_found;
}

/// Reads what is one JSON value without others inside; false when it does not fit.
template <class T>
[[nodiscard]] bool read_scalar(const JsonTree& tree, JsonTree::Index node, T& into,
                               const MemberBounds& bounds) {
    const bool is_string = tree[node].kind == JsonTree::Kind::string;
    const std::string_view text = tree.text_of(node);
    if constexpr (std::same_as<T, bool>) {
        into = tree[node].truth;
        return tree[node].kind == JsonTree::Kind::boolean;
    } else if constexpr (std::integral<T>) {
        return read_integer(tree, node, into, bounds);
    } else if constexpr (std::same_as<T, double>) {
        return read_double(tree, node, into);
    } else if constexpr (std::same_as<T, std::string>) {
        into = text;
        // A text of few bytes has few characters; count only when it matters.
        return is_string &&
               (text.size() <= bounds.length_max || count_characters(text) <= bounds.length_max);
    } else if constexpr (std::same_as<T, base::Time>) {
        const auto time = is_string ? base::parse_time(text) : std::nullopt;
        if (time) into = *time;
        return time.has_value();
    } else {
        return is_string && read_enum(text, into);
    }
}

/// The plans of a described struct's members.
template <DescribedStruct T, template <class> class Bounds>
[[nodiscard]] std::span<const MemberPlan> plans_of() {
    static const auto plans = [] {
        std::array<MemberPlan, boost::mp11::mp_size<MembersOf<T>>::value> made;
        std::size_t at = 0;
        boost::mp11::mp_for_each<MembersOf<T>>([&](auto member) {
            using Member = std::remove_cvref_t<decltype(std::declval<T&>().*member.pointer)>;
            const std::string_view name = json_name(member.name);
            made[at++] = {name, !is_optional<Member> && !is_patch<Member>, Bounds<T>::of(name),
                          [](JsonReader& reader, JsonTree::Index node, void* object,
                             const MemberBounds& bounds) {
                              read_value<Member, Bounds>(
                                  reader, node, static_cast<T*>(object)->*decltype(member)::pointer,
                                  bounds);
                          },
                          expectation<Member>};
        });
        return made;
    }();
    return plans;
}

/// Reads an array's items, each with the bounds of items.
template <class T, template <class> class Bounds>
void read_array(JsonReader& reader, JsonTree::Index node, std::vector<T>& into,
                const MemberBounds& bounds) {
    const JsonTree& tree = reader.tree();
    for (auto item = tree.first(node); item != tree.after(node); item = tree.after(item)) {
        if (reader.is_full()) return;
        T value{};
        read_value<T, Bounds>(reader, item, value, bounds.of_items());
        into.push_back(std::move(value));
    }
}

/// Reads an object of any names, each value with the bounds of items.
template <class T, template <class> class Bounds>
void read_map(JsonReader& reader, JsonTree::Index node, std::map<std::string, T>& into,
              const MemberBounds& bounds) {
    const JsonTree& tree = reader.tree();
    for (auto item = tree.first(node); item != tree.after(node); item = tree.after(item)) {
        if (reader.is_full()) return;
        read_value<T, Bounds>(reader, item, into[std::string(tree.name_of(item))],
                              bounds.of_items());
    }
}

/// Reads an optional or a patch: null, or what is inside.
template <class T, template <class> class Bounds>
void read_nullable(JsonReader& reader, JsonTree::Index node, T& into, const MemberBounds& bounds) {
    using Inner = std::decay_t<decltype(into.value())>;
    if (reader.tree()[node].kind == JsonTree::Kind::null) {
        if constexpr (is_patch<T>) into = T::null();
        if constexpr (is_optional<T>) into.reset();
        return;
    }
    Inner value{};
    read_value<Inner, Bounds>(reader, node, value, bounds);
    into = T(std::move(value));
}

/// Reads any value that has a JSON form; refuses at the reader what does not fit.
template <class T, template <class> class Bounds>
void read_value(JsonReader& reader, JsonTree::Index node, T& into, const MemberBounds& bounds) {
    const JsonTree& tree = reader.tree();
    const auto is_within = [&](JsonTree::Kind kind) {
        const bool fits =
            tree[node].kind == kind &&
            (bounds.length_max == MemberBounds::unbounded || tree.count(node) <= bounds.length_max);
        if (!fits) reader.refuse(node, expectation<T>(bounds));
        return fits;
    };
    if constexpr (is_optional<T> || is_patch<T>) {
        read_nullable<T, Bounds>(reader, node, into, bounds);
    } else if constexpr (is_vector<T>) {
        using Item = typename T::value_type;
        if (is_within(JsonTree::Kind::array)) read_array<Item, Bounds>(reader, node, into, bounds);
    } else if constexpr (is_string_map<T>) {
        using Item = typename T::mapped_type;
        if (is_within(JsonTree::Kind::object)) read_map<Item, Bounds>(reader, node, into, bounds);
    } else if constexpr (DescribedStruct<T>) {
        if (tree[node].kind != JsonTree::Kind::object) {
            reader.refuse(node, expectation<T>(bounds));
        } else {
            read_object(reader, node, plans_of<T, Bounds>(), &into);
        }
    } else if (!read_scalar(tree, node, into, bounds)) {
        reader.refuse(node, expectation<T>(bounds));
    }
}

}  // namespace tenon::runtime
