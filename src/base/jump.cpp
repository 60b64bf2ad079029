#include "base/jump.hpp"

#include <fmt/format.h>

#include "base/assert.hpp"
#include "base/errors.hpp"
#include "base/hash.hpp"

namespace tenon::base {

std::uint32_t jump_bucket(std::uint64_t hash, std::uint32_t buckets) {
    TENON_ASSERT(buckets >= 1 && buckets <= std::uint32_t{1} << 31);
    std::uint64_t bucket = 0;
    std::uint64_t next = 0;
    while (next < buckets) {
        bucket = next;
        // The paper's generator; the lower its high 31 bits, the further the jump.
        hash = hash * 2'862'933'555'777'941'757 + 1;
        const double draw = static_cast<double>((hash >> 33) + 1);
        next = static_cast<std::uint64_t>(static_cast<double>(bucket + 1) * (0x1p31 / draw));
    }
    return static_cast<std::uint32_t>(bucket);
}

Result<JumpPlacement> JumpPlacement::make(const std::vector<Node>& nodes) {
    const auto sorted = sort_nodes(nodes);
    if (!sorted) return fail(sorted.error());
    std::vector<std::string> names;
    names.reserve(nodes.size());
    for (const Node& node : nodes) {
        if (node.weight != 1) {
            return fail(errors::invalid_placement,
                        fmt::format("Node {} has weight {}, but jump hashing knows no weights; "
                                    "take another scheme or give every node weight 1.",
                                    node.name, node.weight));
        }
        names.push_back(node.name);
    }
    return JumpPlacement(std::move(names));
}

std::string_view JumpPlacement::owner(std::string_view key) const {
    return names_[jump_bucket(hash64(key), static_cast<std::uint32_t>(names_.size()))];
}

}  // namespace tenon::base
