// What a described struct looks like: its fields, their bounds, its JSON schema.
#pragma once

#include <boost/describe.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/mp11/algorithm.hpp>
#include <concepts>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "http/spec.hpp"
#include "runtime/json.hpp"

namespace tenon::http {

using FieldErrors = std::vector<base::FieldError>;
/// Component schemas by name.
using Schemas = std::map<std::string, boost::json::object>;

/// Whose JSON a schema describes: null may stand for an optional member that is read; one that is
/// written is left out instead.
enum class Side : std::uint8_t { read, written };

namespace detail {

using runtime::DescribedEnum;
using runtime::DescribedStruct;

template <class T>
concept Integer = std::integral<T> && !std::same_as<T, bool>;

/// The FieldSpec of a member. Not found: the call is no constant expression and does not compile.
template <class T>
consteval const FieldSpec& field_spec(std::string_view name) {
    for (const FieldSpec& field : fields_of<T>::list) {
        if (field.name == name) return field;
    }
    throw "a described member has no FieldSpec";
}

template <class T>
consteval std::size_t count_fields() {
    if constexpr (requires { fields_of<T>::list; }) {
        return std::size(fields_of<T>::list);
    } else {
        return 0;
    }
}

/// Calls `visit(member pointer, FieldSpec, type tag)` for every member of a described struct.
template <class T, class Visit>
void for_each_field(Visit&& visit) {
    static_assert(boost::mp11::mp_size<runtime::MembersOf<T>>::value == count_fields<T>(),
                  "fields_of<T>::list has one FieldSpec for each member and no more");
    boost::mp11::mp_for_each<runtime::MembersOf<T>>([&](auto member) {
        constexpr const FieldSpec& field =
            field_spec<T>(runtime::json_name(decltype(member)::name));
        visit(decltype(member)::pointer, field);
    });
}

[[nodiscard]] boost::json::object text_schema(const FieldSpec& field);
[[nodiscard]] boost::json::object list_schema(boost::json::object items, const FieldSpec& field);
[[nodiscard]] boost::json::object integer_schema(const FieldSpec& field, std::int64_t least,
                                                 std::uint64_t most);
/// The same or null.
[[nodiscard]] boost::json::object nullable(boost::json::object schema);
/// Adds meaning and example. Expects: the example is JSON.
void describe(boost::json::object& schema, const FieldSpec& field);
/// "tenon::links::CreateLink" as "links.CreateLink".
[[nodiscard]] std::string component_name(const std::type_info& type);
[[nodiscard]] boost::json::object reference_to(const std::string& component);
/// A parameter of an OpenAPI operation.
[[nodiscard]] boost::json::object document_parameter(const FieldSpec& field, bool in_path,
                                                     bool required, boost::json::object schema);

}  // namespace detail

/// What a FieldSpec allows, in the words of runtime.
[[nodiscard]] runtime::MemberBounds bounds_of(const FieldSpec& field);

/// The bounds of a described struct's members, as runtime::from_json asks for them.
template <class T>
struct FieldBounds {
    [[nodiscard]] static runtime::MemberBounds of(std::string_view member) {
        for (const FieldSpec& field : fields_of<T>::list) {
            if (field.name == member) return bounds_of(field);
        }
        return {};
    }
};

/// The JSON schema of a value; described structs become components and are referred to.
template <class T>
[[nodiscard]] boost::json::object schema_of(const FieldSpec& field, Schemas& schemas, Side side);

/// Writes the component of a described struct, unless it is there, and refers to it.
template <runtime::DescribedStruct T>
[[nodiscard]] boost::json::object component_of(Schemas& schemas, Side side) {
    const std::string name = detail::component_name(typeid(T));
    if (schemas.contains(name)) return detail::reference_to(name);
    schemas[name] = {};
    boost::json::object properties;
    boost::json::array required;
    detail::for_each_field<T>([&]<class M>(M T::*, const FieldSpec& field) {
        boost::json::object schema = schema_of<M>(field, schemas, side);
        if (runtime::is_optional<M> && side == Side::read) {
            schema = detail::nullable(std::move(schema));
        }
        detail::describe(schema, field);
        properties[field.name] = std::move(schema);
        if (!runtime::is_optional<M> && !runtime::is_patch<M>) required.emplace_back(field.name);
    });
    boost::json::object& component = schemas[name];
    component["type"] = "object";
    component["properties"] = std::move(properties);
    if (!required.empty()) component["required"] = std::move(required);
    component["additionalProperties"] = false;
    return detail::reference_to(name);
}

namespace detail {

template <DescribedEnum T>
[[nodiscard]] boost::json::object enum_schema() {
    boost::json::array names;
    boost::mp11::mp_for_each<boost::describe::describe_enumerators<T>>(
        [&](auto enumerator) { names.emplace_back(std::string_view(enumerator.name)); });
    return {{"type", "string"}, {"enum", std::move(names)}};
}

}  // namespace detail

/// See above.
template <class T>
boost::json::object schema_of(const FieldSpec& field, Schemas& schemas, Side side) {
    const FieldSpec item{
        .length_max = field.item_length_max, .minimum = field.minimum, .maximum = field.maximum};
    if constexpr (runtime::is_optional<T>) {
        return schema_of<typename T::value_type>(field, schemas, side);
    } else if constexpr (runtime::is_patch<T>) {
        using Value = std::decay_t<decltype(std::declval<T>().value())>;
        boost::json::object schema = schema_of<Value>(field, schemas, side);
        return field.removable ? detail::nullable(std::move(schema)) : schema;
    } else if constexpr (std::same_as<T, std::string>) {
        return detail::text_schema(field);
    } else if constexpr (std::same_as<T, bool>) {
        return {{"type", "boolean"}};
    } else if constexpr (detail::Integer<T>) {
        return detail::integer_schema(field, std::numeric_limits<T>::min(),
                                      std::numeric_limits<T>::max());
    } else if constexpr (std::floating_point<T>) {
        return {{"type", "number"}};
    } else if constexpr (std::same_as<T, base::Time>) {
        return {{"type", "string"}, {"format", "date-time"}};
    } else if constexpr (runtime::is_vector<T>) {
        return detail::list_schema(schema_of<typename T::value_type>(item, schemas, side), field);
    } else if constexpr (runtime::is_string_map<T>) {
        return {{"type", "object"},
                {"additionalProperties", schema_of<typename T::mapped_type>(item, schemas, side)}};
    } else if constexpr (runtime::DescribedEnum<T>) {
        return detail::enum_schema<T>();
    } else {
        static_assert(runtime::DescribedStruct<T>, "no JSON schema for this type");
        return component_of<T>(schemas, side);
    }
}

}  // namespace tenon::http
