#include "runtime/json_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/basic_parser_impl.hpp>
#include <charconv>
#include <cmath>
#include <limits>

#include "runtime/errors.hpp"

namespace tenon::runtime {

namespace json = boost::json;

// Receives the parser's events; its member names are Boost.JSON's.
class JsonTreeBuilder {
public:
    static constexpr std::size_t max_object_size = std::numeric_limits<std::size_t>::max();
    static constexpr std::size_t max_array_size = std::numeric_limits<std::size_t>::max();
    static constexpr std::size_t max_key_size = std::numeric_limits<std::size_t>::max();
    static constexpr std::size_t max_string_size = std::numeric_limits<std::size_t>::max();

    bool on_document_begin(json::error_code&) { return true; }
    bool on_document_end(json::error_code&) { return true; }
    bool on_object_begin(json::error_code&) { return open(JsonTree::Kind::object); }
    bool on_object_end(std::size_t, json::error_code&) { return close(); }
    bool on_array_begin(json::error_code&) { return open(JsonTree::Kind::array); }
    bool on_array_end(std::size_t, json::error_code&) { return close(); }
    bool on_key_part(json::string_view part, std::size_t, json::error_code&) { return take(part); }
    bool on_key(json::string_view part, std::size_t, json::error_code&) {
        take(part);
        name_ = end_text();
        return true;
    }
    bool on_string_part(json::string_view part, std::size_t, json::error_code&) {
        return take(part);
    }
    bool on_string(json::string_view part, std::size_t, json::error_code&) {
        take(part);
        return add_text(JsonTree::Kind::string);
    }
    bool on_number_part(json::string_view part, json::error_code&) { return take(part); }
    bool on_int64(std::int64_t, json::string_view part, json::error_code&) { return number(part); }
    bool on_uint64(std::uint64_t, json::string_view part, json::error_code&) {
        return number(part);
    }
    bool on_double(double, json::string_view part, json::error_code&) { return number(part); }
    bool on_bool(bool truth, json::error_code&) {
        add(JsonTree::Kind::boolean).truth = truth;
        return true;
    }
    bool on_null(json::error_code&) {
        add(JsonTree::Kind::null);
        return true;
    }
    bool on_comment_part(json::string_view, json::error_code&) { return true; }
    bool on_comment(json::string_view, json::error_code&) { return true; }

    JsonTree tree;

private:
    bool take(json::string_view part) {
        tree.texts_.append(part.data(), part.size());
        return true;
    }
    JsonTree::Text end_text() {
        const auto size = static_cast<std::uint32_t>(tree.texts_.size());
        const JsonTree::Text text{text_begin_, size - text_begin_};
        text_begin_ = size;
        return text;
    }
    JsonTree::Node& add(JsonTree::Kind kind) {
        const auto index = static_cast<JsonTree::Index>(tree.nodes_.size());
        JsonTree::Node& node = tree.nodes_.emplace_back();
        node.kind = kind;
        node.parent = open_.empty() ? 0 : open_.back();
        node.end = index + 1;
        node.name = std::exchange(name_, {});
        return node;
    }
    bool add_text(JsonTree::Kind kind) {
        const JsonTree::Text text = end_text();
        add(kind).text = text;
        return true;
    }
    bool number(json::string_view part) {
        take(part);
        return add_text(JsonTree::Kind::number);
    }
    bool open(JsonTree::Kind kind) {
        add(kind);
        open_.push_back(static_cast<JsonTree::Index>(tree.nodes_.size() - 1));
        return true;
    }
    bool close() {
        tree.nodes_[open_.back()].end = static_cast<JsonTree::Index>(tree.nodes_.size());
        open_.pop_back();
        return true;
    }

    std::uint32_t text_begin_ = 0;
    JsonTree::Text name_;
    std::vector<JsonTree::Index> open_;
};

namespace {

bool fits_64_bits(std::string_view integer) {
    std::int64_t as_signed = 0;
    std::uint64_t as_unsigned = 0;
    const char* end = integer.data() + integer.size();
    return std::from_chars(integer.data(), end, as_signed).ec == std::errc() ||
           std::from_chars(integer.data(), end, as_unsigned).ec == std::errc();
}

bool fits_double(std::string_view number) {
    double value = 0;
    const auto parsed = std::from_chars(number.data(), number.data() + number.size(), value);
    return parsed.ec == std::errc() && std::isfinite(value);
}

}  // namespace

base::Result<JsonTree> JsonTree::parse(std::string_view text) {
    if (text.size() >= std::numeric_limits<std::uint32_t>::max()) {
        return base::fail(errors::json_invalid, "The text is longer than 4 GiB.");
    }
    json::parse_options options;
    options.max_depth = json_depth_max;
    json::basic_parser<JsonTreeBuilder> parser(options);
    JsonTree& tree = parser.handler().tree;
    tree.nodes_.reserve(16);
    tree.texts_.reserve(std::min<std::size_t>(text.size(), 4'096));
    json::error_code error;
    const std::size_t read = parser.write_some(false, text.data(), text.size(), error);
    if (!error && read < text.size()) error = json::error::extra_data;
    if (error) {
        return base::fail(errors::json_invalid,
                          fmt::format("The text stops being JSON at byte {} of {}: {}.", read,
                                      text.size(), error.message()));
    }
    tree.check();
    return std::move(tree);
}

std::size_t JsonTree::count(Index node) const {
    std::size_t count = 0;
    for (Index child = first(node); child != after(node); child = after(child)) ++count;
    return count;
}

std::string JsonTree::pointer_to(Index node) const {
    if (node == 0) return "";
    const Index parent = nodes_[node].parent;
    std::string pointer = pointer_to(parent);
    if (nodes_[parent].kind == Kind::object) {
        append_pointer(pointer, name_of(node));
        return pointer;
    }
    std::size_t position = 0;
    for (Index item = first(parent); item != node; item = after(item)) ++position;
    return pointer + '/' + std::to_string(position);
}

void JsonTree::refuse(Index node, std::string_view expected) {
    if (refused_.size() >= refused_max) return;
    refused_.push_back({pointer_to(node), std::string(expected)});
}

void JsonTree::check() {
    for (Index node = 0; node < nodes_.size(); ++node) {
        const std::string_view text = text_of(node);
        if (name_of(node).find('\0') != std::string_view::npos) {
            refuse(node, "a name without U+0000");
        }
        switch (nodes_[node].kind) {
            case Kind::string:
                if (text.find('\0') != std::string_view::npos) {
                    refuse(node, "a string without U+0000");
                }
                break;
            case Kind::number:
                if (is_integer_text(text) && !fits_64_bits(text)) {
                    refuse(node, "an integer within 64 bits");
                } else if (!fits_double(text)) {
                    refuse(node, "a number within the range of a 64-bit floating point number");
                }
                break;
            case Kind::object:
                check_names(node);
                break;
            case Kind::null:
            case Kind::boolean:
            case Kind::array:
                break;
        }
    }
}

void JsonTree::check_names(Index object) {
    std::vector<Index> members;
    for (Index member = first(object); member != after(object); member = after(member)) {
        members.push_back(member);
    }
    const auto is_before = [this](Index a, Index b) {
        const int order = name_of(a).compare(name_of(b));
        return order < 0 || (order == 0 && a < b);
    };
    std::sort(members.begin(), members.end(), is_before);
    for (std::size_t i = 1; i < members.size(); ++i) {
        if (name_of(members[i - 1]) == name_of(members[i])) {
            refuse(members[i], "a member that is there only once");
        }
    }
}

void append_pointer(std::string& pointer, std::string_view name) {
    constexpr std::size_t length_max = 128;
    std::size_t length = std::min(name.size(), length_max);
    // Not in the middle of a character.
    while (length < name.size() && (static_cast<std::uint8_t>(name[length]) & 0xC0) == 0x80) {
        --length;
    }
    pointer += '/';
    for (const char c : name.substr(0, length)) {
        if (c == '~') {
            pointer += "~0";
        } else if (c == '/') {
            pointer += "~1";
        } else {
            pointer += c;
        }
    }
    if (length < name.size()) pointer += "...";
}

bool is_integer_text(std::string_view number) {
    return number.find_first_of(".eE") == std::string_view::npos;
}

}  // namespace tenon::runtime
