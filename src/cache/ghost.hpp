// Remembers which keys were here lately, without keeping them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenon::cache {

/// A bounded memory of hashes: the ghost queue of S3-FIFO.
///
/// Shape:   contains() is true for the last `window` hashes added, save those that a full bucket
///          pushed out, and for a foreign hash with a chance of about 1 in 2^30. A wrong answer
///          only moves an entry to another queue.
/// Threads: one at a time.
/// Cost:    O(1); 8 bytes per slot, allocated once.
class Ghost {
public:
    /// `slots` is rounded up to a power of two, at least 4.
    explicit Ghost(std::size_t slots);

    void add(std::uint64_t hash);
    /// Expects: window <= slots.
    [[nodiscard]] bool contains(std::uint64_t hash, std::size_t window) const;
    void clear();
    [[nodiscard]] std::size_t slots() const { return buckets_.size() * ways; }
    [[nodiscard]] std::size_t bytes() const { return buckets_.size() * sizeof(Bucket); }

private:
    static constexpr std::size_t ways = 4;
    struct Mark {
        std::uint32_t tag = 0;
        std::uint32_t added = 0;  ///< value of `added_` then; 0 means free
    };
    using Bucket = std::array<Mark, ways>;
    [[nodiscard]] std::size_t bucket_of(std::uint64_t hash) const;

    std::vector<Bucket> buckets_;
    std::uint32_t added_ = 0;
};

}  // namespace tenon::cache
