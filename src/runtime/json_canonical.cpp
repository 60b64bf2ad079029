#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include "runtime/json.hpp"

namespace tenon::runtime {
namespace {

using Index = JsonTree::Index;

// Whole doubles up to here are exact, so 1e3 and 1000 are the same number.
constexpr double whole_max = 9'007'199'254'740'992.0;

void append_number(std::string& out, const JsonTree& tree, Index node) {
    const std::string_view text = tree.text_of(node);
    if (is_integer_text(text)) {
        out += text == "-0" ? "0" : text;
        return;
    }
    double value = 0;
    (void)read_double(tree, node, value);
    if (value == std::trunc(value) && std::abs(value) <= whole_max) {
        append_json(out, static_cast<std::int64_t>(value));
    } else {
        append_json_double(out, value);
    }
}

void append_canonical(std::string& out, const JsonTree& tree, Index node);

void append_children(std::string& out, const JsonTree& tree, Index node) {
    const bool is_object = tree[node].kind == JsonTree::Kind::object;
    std::vector<Index> children;
    for (Index child = tree.first(node); child != tree.after(node); child = tree.after(child)) {
        children.push_back(child);
    }
    if (is_object) {
        std::sort(children.begin(), children.end(),
                  [&](Index a, Index b) { return tree.name_of(a) < tree.name_of(b); });
    }
    out += is_object ? '{' : '[';
    for (std::size_t i = 0; i < children.size(); ++i) {
        if (i > 0) out += ',';
        if (is_object) {
            append_json_string(out, tree.name_of(children[i]));
            out += ':';
        }
        append_canonical(out, tree, children[i]);
    }
    out += is_object ? '}' : ']';
}

// Recursion is bounded by json_depth_max.
void append_canonical(std::string& out, const JsonTree& tree, Index node) {
    switch (tree[node].kind) {
        case JsonTree::Kind::null:
            out += "null";
            break;
        case JsonTree::Kind::boolean:
            out += tree[node].truth ? "true" : "false";
            break;
        case JsonTree::Kind::number:
            append_number(out, tree, node);
            break;
        case JsonTree::Kind::string:
            append_json_string(out, tree.text_of(node));
            break;
        case JsonTree::Kind::array:
        case JsonTree::Kind::object:
            append_children(out, tree, node);
            break;
    }
}

}  // namespace

base::Result<std::string> canonical_json(std::string_view text) {
    const base::Result<JsonTree> tree = JsonTree::parse(text);
    if (!tree) return base::fail(tree.error());
    const JsonReader reader(*tree);
    if (reader.has_refused()) return base::fail(reader.error());
    std::string out;
    out.reserve(text.size());
    append_canonical(out, *tree, 0);
    return out;
}

}  // namespace tenon::runtime
