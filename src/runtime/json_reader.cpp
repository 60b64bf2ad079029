#include "runtime/json_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "runtime/errors.hpp"
#include "runtime/nearest.hpp"

namespace tenon::runtime {
namespace {

std::string expect_known(std::string_view name, std::span<const MemberPlan> plans) {
    std::vector<std::string_view> known;
    for (const MemberPlan& plan : plans) known.push_back(plan.name);
    if (const auto nearest = nearest_name(name, known)) {
        return fmt::format("no such member; did you mean \"{}\"?", *nearest);
    }
    if (known.empty()) return "no members";
    return fmt::format("no such member; there are: {}", fmt::join(known, ", "));
}

const MemberPlan* find_plan(std::string_view name, std::span<const MemberPlan> plans) {
    const auto found = std::find_if(plans.begin(), plans.end(),
                                    [&](const MemberPlan& plan) { return plan.name == name; });
    return found == plans.end() ? nullptr : &*found;
}

bool has_member(const JsonTree& tree, JsonTree::Index object, std::string_view name) {
    for (auto member = tree.first(object); member != tree.after(object);
         member = tree.after(member)) {
        if (tree.name_of(member) == name) return true;
    }
    return false;
}

template <class T>
bool read_number(const JsonTree& tree, JsonTree::Index node, T& into) {
    if (tree[node].kind != JsonTree::Kind::number) return false;
    const std::string_view text = tree.text_of(node);
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, into);
    return error == std::errc() && stop == end;
}

}  // namespace

void JsonReader::refuse(JsonTree::Index node, std::string expected) {
    if (is_full()) return;
    refused_.push_back({tree_.pointer_to(node), std::move(expected)});
}

void JsonReader::refuse_member(JsonTree::Index object, std::string_view name,
                               std::string expected) {
    if (is_full()) return;
    std::string pointer = tree_.pointer_to(object);
    append_pointer(pointer, name);
    refused_.push_back({std::move(pointer), std::move(expected)});
}

base::Error JsonReader::error() const {
    std::vector<base::FieldError> all = tree_.refused();
    for (const base::FieldError& one : refused_) {
        const auto is_same = [&](const base::FieldError& other) {
            return other.pointer == one.pointer;
        };
        // The tree's own objection is the more exact one.
        const auto end = all.begin() + static_cast<std::ptrdiff_t>(tree_.refused().size());
        if (std::none_of(all.begin(), end, is_same)) all.push_back(one);
    }
    all.resize(std::min(all.size(), JsonTree::refused_max));
    const base::FieldError& first = all.front();
    base::Error error(
        errors::json_mismatch,
        fmt::format("{}: expected {}.{}", first.pointer.empty() ? "The whole value" : first.pointer,
                    first.expected,
                    all.size() == 1 ? "" : fmt::format(" {} more.", all.size() - 1)));
    for (base::FieldError& field : all) {
        error.add_field(std::move(field.pointer), std::move(field.expected));
    }
    return error;
}

void read_object(JsonReader& reader, JsonTree::Index node, std::span<const MemberPlan> plans,
                 void* object) {
    const JsonTree& tree = reader.tree();
    std::size_t known = 0;
    for (auto member = tree.first(node); member != tree.after(node); member = tree.after(member)) {
        if (reader.is_full()) return;
        const MemberPlan* plan = find_plan(tree.name_of(member), plans);
        if (plan == nullptr) {
            reader.refuse(member, expect_known(tree.name_of(member), plans));
            continue;
        }
        ++known;
        plan->read(reader, member, object, plan->bounds);
    }
    // All there, unless one is there twice, which is refused anyway.
    if (known == plans.size()) return;
    for (const MemberPlan& plan : plans) {
        if (!plan.required || has_member(tree, node, plan.name)) continue;
        reader.refuse_member(node, plan.name,
                             plan.expected(plan.bounds) + "; it is required and missing");
    }
}

bool read_signed(const JsonTree& tree, JsonTree::Index node, std::int64_t low, std::int64_t high,
                 std::int64_t& into) {
    return read_number(tree, node, into) && low <= into && into <= high;
}

bool read_unsigned(const JsonTree& tree, JsonTree::Index node, std::uint64_t low,
                   std::uint64_t high, std::uint64_t& into) {
    if (tree[node].kind == JsonTree::Kind::number && tree.text_of(node) == "-0") {
        into = 0;
        return low == 0;
    }
    return read_number(tree, node, into) && low <= into && into <= high;
}

bool read_double(const JsonTree& tree, JsonTree::Index node, double& into) {
    return read_number(tree, node, into);
}

std::string expect_signed(std::int64_t low, std::int64_t high) {
    if (low == std::numeric_limits<std::int64_t>::min() &&
        high == std::numeric_limits<std::int64_t>::max()) {
        return "an integer within 64 bits";
    }
    return fmt::format("an integer from {} to {}", low, high);
}

std::string expect_unsigned(std::uint64_t low, std::uint64_t high) {
    return fmt::format("an integer from {} to {}", low, high);
}

std::string expect_length(std::string_view what, std::size_t length_max, std::string_view of_what) {
    if (length_max == MemberBounds::unbounded) return std::string(what);
    return fmt::format("{} of at most {} {}", what, length_max, of_what);
}

std::string expect_one_of(std::span<const std::string_view> names) {
    return fmt::format("one of: {}", fmt::join(names, ", "));
}

}  // namespace tenon::runtime
