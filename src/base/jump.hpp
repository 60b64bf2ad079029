// Jump consistent hashing: numbered nodes, no memory, growth and shrinking at the end only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/placement.hpp"
#include "base/result.hpp"

namespace tenon::base {

/// The bucket, 0 .. buckets - 1, of a hash.
///
/// Shape:   from n to n + 1 buckets the part 1/(n + 1) of all hashes moves, all of it to the new
///          one.
/// Expects: 1 <= buckets <= 2^31.
/// Cost:    O(log buckets) steps, no allocation.
/// Source:  Lamping and Veach, "A Fast, Minimal Memory, Consistent Hash Algorithm", 2014.
[[nodiscard]] std::uint32_t jump_bucket(std::uint64_t hash, std::uint32_t buckets);

/// Places a key on the node whose place in the list is the jump_bucket() of the key's XXH3-64.
///
/// Even shares; moves what it must, as long as nodes come and go at the end of the list: one that
/// goes from the middle renumbers all after it. For numbered workers and shards, not for caches.
///
/// Shape: the order of the nodes is what names them; all weights are 1.
class JumpPlacement final : public Placement {
public:
    /// The placement on these nodes, in this order.
    ///
    /// Errors: those of sort_nodes(); base.invalid_placement for a weight other than 1.
    [[nodiscard]] static Result<JumpPlacement> make(const std::vector<Node>& nodes);
    [[nodiscard]] std::string_view owner(std::string_view key) const override;

private:
    explicit JumpPlacement(std::vector<std::string> names) : names_(std::move(names)) {}

    std::vector<std::string> names_;
};

}  // namespace tenon::base
