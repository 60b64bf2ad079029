// Rendezvous hashing: for every key the nodes draw lots, and the highest wins.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/placement.hpp"
#include "base/result.hpp"

namespace tenon::base {

/// Gives a key to the node that scores highest for it.
///
/// The evenest shares of all schemes, to the per cent, and a node that comes or goes moves only its
/// own; so does a changed weight. For few nodes: every key asks all of them.
///
/// Shape:  with u the XXH3-64 of point_of(name, 0) and the key's XXH3-64, both as 8 big-endian
///         bytes, brought into (0, 1) by its high 52 bits, a node scores weight / -ln u. Equal
///         scores go to the smaller name. The order of the nodes does not matter.
/// Cost:   O(nodes) per key, no allocation.
/// Source: Thaler and Ravishankar 1998; weights as Schindler and Schomaker 2005 give them.
class Rendezvous final : public Placement {
public:
    /// The placement on these nodes.
    ///
    /// Errors: those of sort_nodes().
    [[nodiscard]] static Result<Rendezvous> make(std::vector<Node> nodes);
    [[nodiscard]] std::string_view owner(std::string_view key) const override;

private:
    struct Candidate {
        std::string name;
        double weight;
        std::uint64_t hash;
    };
    explicit Rendezvous(std::vector<Candidate> candidates) : candidates_(std::move(candidates)) {}

    std::vector<Candidate> candidates_;  ///< by name
};

}  // namespace tenon::base
