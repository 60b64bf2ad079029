// What reading JSON into structs needs that does not depend on the struct.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "runtime/json_tree.hpp"

namespace tenon::runtime {

/// What a member may hold beyond what its type says.
struct MemberBounds {
    static constexpr std::size_t unbounded = std::numeric_limits<std::size_t>::max();

    std::size_t length_max = unbounded;       ///< characters of a string, items of array or map
    std::size_t item_length_max = unbounded;  ///< the same for the items of an array or map
    std::int64_t minimum = 0;                 ///< of an integer or an array's integers
    std::int64_t maximum = 0;                 ///< 0 with minimum 0: what the type holds

    [[nodiscard]] bool has_range() const { return minimum != 0 || maximum != 0; }
    /// The bounds of an array's items.
    [[nodiscard]] MemberBounds of_items() const {
        return {item_length_max, item_length_max, minimum, maximum};
    }
};

/// Collects what was refused while a tree is read.
///
/// Threads: one at a time; lives during one from_json.
class JsonReader {
public:
    explicit JsonReader(const JsonTree& tree) : tree_(tree) {}

    [[nodiscard]] const JsonTree& tree() const { return tree_; }
    /// At most 100 errors are kept; the rest is of no use to anybody.
    [[nodiscard]] bool is_full() const { return refused_.size() >= JsonTree::refused_max; }
    void refuse(JsonTree::Index node, std::string expected);
    void refuse_member(JsonTree::Index object, std::string_view name, std::string expected);
    /// The error that lists everything; Expects: has_refused().
    [[nodiscard]] base::Error error() const;
    [[nodiscard]] bool has_refused() const { return !refused_.empty() || !tree_.refused().empty(); }

private:
    const JsonTree& tree_;
    std::vector<base::FieldError> refused_;
};

/// How one member of a struct is read.
struct MemberPlan {
    std::string_view name;
    bool required = true;
    MemberBounds bounds;
    void (*read)(JsonReader&, JsonTree::Index, void* object, const MemberBounds&) = nullptr;
    std::string (*expected)(const MemberBounds&) = nullptr;
};

/// Reads an object's members into `object` by `plans`; refuses unknown and missing ones.
void read_object(JsonReader& reader, JsonTree::Index node, std::span<const MemberPlan> plans,
                 void* object);

/// An integer's value, or false when it is none or outside [low, high].
bool read_signed(const JsonTree& tree, JsonTree::Index node, std::int64_t low, std::int64_t high,
                 std::int64_t& into);
/// The same for what is never negative; "-0" is 0.
bool read_unsigned(const JsonTree& tree, JsonTree::Index node, std::uint64_t low,
                   std::uint64_t high, std::uint64_t& into);
/// A number as the nearest double; false when it is none.
bool read_double(const JsonTree& tree, JsonTree::Index node, double& into);

/// "an integer from 1 to 100"; "an integer within 64 bits" for the whole range of int64.
[[nodiscard]] std::string expect_signed(std::int64_t low, std::int64_t high);
/// "an integer from 0 to 255".
[[nodiscard]] std::string expect_unsigned(std::uint64_t low, std::uint64_t high);
/// "a string of at most 40 characters"; without the bound when there is none.
[[nodiscard]] std::string expect_length(std::string_view what, std::size_t length_max,
                                        std::string_view of_what);
/// "one of: a, b".
[[nodiscard]] std::string expect_one_of(std::span<const std::string_view> names);

}  // namespace tenon::runtime
