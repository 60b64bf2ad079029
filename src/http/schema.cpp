#include "http/schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/core/demangle.hpp>

#include "runtime/json_text.hpp"

namespace tenon::http {

namespace {

constexpr std::size_t length_max_default = 65'536;

std::size_t or_default(std::size_t length_max) {
    return length_max == 0 ? length_max_default : length_max;
}

bool is_bounded(const FieldSpec& field) {
    return field.minimum != 0 || field.maximum != 0;
}

}  // namespace

runtime::MemberBounds bounds_of(const FieldSpec& field) {
    runtime::MemberBounds bounds;
    bounds.length_max = or_default(field.length_max);
    bounds.item_length_max = or_default(field.item_length_max);
    if (is_bounded(field)) {
        bounds.minimum = field.minimum;
        bounds.maximum = field.maximum;
    }
    return bounds;
}

namespace detail {

boost::json::object text_schema(const FieldSpec& field) {
    // No string of a request may hold U+0000, which PostgreSQL cannot keep.
    constexpr std::string_view without_nul = "^[^\\x00]*$";
    boost::json::object schema{{"type", "string"}, {"maxLength", or_default(field.length_max)}};
    schema["pattern"] = field.pattern.empty() ? without_nul : field.pattern;
    if (!field.format.empty()) schema["format"] = field.format;
    return schema;
}

boost::json::object list_schema(boost::json::object items, const FieldSpec& field) {
    return {
        {"type", "array"}, {"items", std::move(items)}, {"maxItems", or_default(field.length_max)}};
}

boost::json::object integer_schema(const FieldSpec& field, std::int64_t least, std::uint64_t most) {
    boost::json::object schema{{"type", "integer"}};
    schema["format"] = most > std::numeric_limits<std::uint32_t>::max() ? "int64" : "int32";
    if (!field.choices.empty()) {
        schema["enum"] = boost::json::array(field.choices.begin(), field.choices.end());
    } else if (is_bounded(field)) {
        schema["minimum"] = field.minimum;
        schema["maximum"] = field.maximum;
    } else if (least == 0) {
        schema["minimum"] = 0;
    }
    return schema;
}

boost::json::object nullable(boost::json::object schema) {
    // A format is one of texts: beside null it would say nothing, and readers of schemas err there.
    if (schema.contains("$ref") || schema.contains("format")) {
        return {{"oneOf", boost::json::array{std::move(schema), {{"type", "null"}}}}};
    }
    schema["type"] = boost::json::array{schema["type"], "null"};
    if (auto* const choices = schema.if_contains("enum")) choices->as_array().emplace_back(nullptr);
    return schema;
}

void describe(boost::json::object& schema, const FieldSpec& field) {
    if (!field.meaning.empty()) schema["description"] = field.meaning;
    if (!field.example.empty()) {
        schema["examples"] = boost::json::array{boost::json::parse(field.example)};
    }
}

std::string component_name(const std::type_info& type) {
    const std::string full = boost::core::demangle(type.name());
    std::string name;
    std::string_view left = full;
    while (!left.empty()) {
        const std::size_t end = std::min(left.find("::"), left.size());
        const std::string_view part = left.substr(0, end);
        left.remove_prefix(std::min(end + 2, left.size()));
        if (part == "tenon" || part == "(anonymous namespace)") continue;
        if (!name.empty()) name.push_back('.');
        name.append(part);
    }
    return name;
}

boost::json::object reference_to(const std::string& component) {
    return {{"$ref", "#/components/schemas/" + component}};
}

boost::json::object document_parameter(const FieldSpec& field, bool in_path, bool required,
                                       boost::json::object schema) {
    boost::json::object parameter{
        {"name", field.name}, {"in", in_path ? "path" : "query"}, {"required", required}};
    if (!field.meaning.empty()) parameter["description"] = field.meaning;
    parameter["schema"] = std::move(schema);
    if (!field.example.empty()) parameter["example"] = boost::json::parse(field.example);
    return parameter;
}

}  // namespace detail

}  // namespace tenon::http
