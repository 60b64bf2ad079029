// Maglev hashing: a look-up table that the nodes fill in turn.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/placement.hpp"
#include "base/result.hpp"

namespace tenon::base {

/// Where a node wants its entries: at offset, offset + skip, offset + 2 × skip ..., modulo the
/// size.
struct MaglevWish {
    std::uint64_t offset = 0;  ///< 0 .. size - 1
    std::uint64_t skip = 1;    ///< 1 .. size - 1
    std::uint32_t weight = 1;  ///< at least 1
};

/// Fills a table: in every round each node in turn takes the first free entry that it wishes for.
///
/// Shape:   the node of each entry, by its place in `wishes`. A node whose weight is below the
///          highest sits rounds out, so that turns are as weights; all have one in the first round.
/// Expects: `size` prime, and as many entries as nodes at least.
/// Cost:    O(size × log size) expected, O(size × nodes) at worst.
/// Source:  Eisenbud et al., "Maglev: A Fast and Reliable Software Network Load Balancer", 2016,
///          section 3.4.
[[nodiscard]] std::vector<std::uint32_t> fill_maglev(std::span<const MaglevWish> wishes,
                                                     std::uint32_t size);

/// How large the table is.
struct MaglevOptions {
    /// Entries; a prime, at least as many as nodes, at most 2^24. A hundred times the nodes keep
    /// shares within a per cent or so; more entries lessen what moves beyond need. 4 bytes each.
    std::uint32_t size = 65'537;
};

/// Places a key on the node of the entry that the key's XXH3-64, modulo the size, falls to.
///
/// Shares even to an entry and one memory access per key; a node that comes or goes moves its own
/// share and a little of the others'. For routing, where a moved key costs little.
///
/// Shape: a node wishes for offset point_of(name, 0) mod size, skip point_of(name, 1) mod
///        (size - 1) + 1. Nodes take turns by name; the order given does not matter.
class MaglevTable final : public Placement {
public:
    /// The table of these nodes.
    ///
    /// Errors: those of sort_nodes(); base.invalid_placement for a size that is not as above.
    [[nodiscard]] static Result<MaglevTable> make(std::vector<Node> nodes,
                                                  MaglevOptions options = {});
    [[nodiscard]] std::string_view owner(std::string_view key) const override;

private:
    MaglevTable(std::vector<Node> nodes, std::vector<std::uint32_t> table)
        : nodes_(std::move(nodes)), table_(std::move(table)) {}

    std::vector<Node> nodes_;  ///< by name
    std::vector<std::uint32_t> table_;
};

}  // namespace tenon::base
