// Whether an answer of several nodes covers every bucket exactly once.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/hash.hpp"
#include "base/slot.hpp"
#include "storage/map.hpp"

namespace tenon::storage {

/// A bucket and the epoch under which a node serves it.
struct ServedBucket {
    base::Bucket bucket;
    std::int64_t epoch = 1;
    auto operator<=>(const ServedBucket&) const = default;
};

/// What one node is asked for: the buckets that a map gives it, or some of them.
struct Owned {
    Node node;
    std::vector<ServedBucket> pairs;  ///< in the order of buckets, none twice
    /// Bit n of byte n / 8, counted from its lowest, is bucket n: get_bit of a bytea. A statement
    /// over a node-local index leaves out with it what lies there of other buckets, for a copy of
    /// a bucket lies on two nodes while it moves.
    std::vector<std::uint8_t> bits;
    base::Digest digest{};  ///< digest_of(pairs)
};

/// Expects: `pairs` in the order of buckets, none twice.
[[nodiscard]] Owned make_owned(Node node, std::vector<ServedBucket> pairs);
/// What each node of a map is asked for, in the order of nodes; one without buckets is left out.
[[nodiscard]] std::vector<Owned> owned_by_nodes(const Map& map);

/// SHA-256 of "BUCKET:EPOCH,BUCKET:EPOCH", as tenon.served and database_reads.cpp have it.
[[nodiscard]] base::Digest digest_of(std::span<const ServedBucket> pairs);

/// What one node said of its part.
struct ServedPart {
    Node node;
    std::int32_t total = 0;           ///< how many buckets it served
    base::Digest digest{};            ///< of what it served
    std::vector<ServedBucket> pairs;  ///< what it served; left out where it is what was asked for
};

/// What keeps an answer from covering every bucket exactly once; each in the order of buckets.
struct Gaps {
    std::vector<base::Bucket> missing;    ///< served by no node
    std::vector<base::Bucket> repeated;   ///< served by more than one
    std::vector<base::Bucket> differing;  ///< served by another node or under another epoch than
                                          ///< the map's, or not in the map at all
    [[nodiscard]] bool empty() const {
        return missing.empty() && repeated.empty() && differing.empty();
    }
    /// All of them, in the order of buckets.
    [[nodiscard]] std::vector<base::Bucket> all() const;
    bool operator==(const Gaps&) const = default;
};

/// Compares what nodes served with what they were asked for.
///
/// Shape:   pure. A node that was asked and gave no part leaves its buckets missing.
/// Expects: no bucket is asked of two nodes; at most one part per node.
/// Cost:    O(nodes) where all is well, else O(buckets × log buckets).
[[nodiscard]] Gaps judge_coverage(std::span<const Owned> asked, std::span<const ServedPart> parts);

/// "bucket 3, 7 missing; bucket 9 served twice", naming up to 16 of each.
[[nodiscard]] std::string describe_gaps(const Gaps& gaps);

}  // namespace tenon::storage
