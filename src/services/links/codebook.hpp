// The codes that this core may hand out: ranges of k leased from the buckets' counters.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/codes.hpp"
#include "base/random.hpp"
#include "base/slot.hpp"

namespace tenon::links {

/// Unused ranges of one core, by bucket.
///
/// Shape:   pure; grants come from the store. What a process had not used at its end is skipped.
/// Threads: its core only.
class CodeBook {
public:
    explicit CodeBook(const base::Bijection& bijection) : bijection_(bijection) {}

    /// The bucket's next code; nullopt when its range is used up.
    [[nodiscard]] std::optional<std::string> draw(base::Bucket bucket);
    /// Adds the range [first_k, first_k + count), in place of what was left.
    void grant(base::Bucket bucket, std::uint64_t first_k, std::uint64_t count);
    /// Picks another bucket next time: this one has handed out all its codes.
    void abandon(base::Bucket bucket);
    /// How many k to lease next for a bucket: 16 at first, doubling up to 1,024; with its own use,
    /// or with that of its space's buckets when it is the one in use.
    [[nodiscard]] std::uint64_t wish(base::Bucket bucket);
    /// A bucket for a link that may lie anywhere: the one in use until its range is drawn, so that
    /// a batch touches few buckets, then a random one.
    [[nodiscard]] base::Bucket pick(base::Space space, base::Random& random);

private:
    struct Range {
        std::uint64_t next = 0;
        std::uint64_t end = 0;
        std::uint64_t last_wish = 0;
    };
    base::Bijection bijection_;
    std::unordered_map<std::int32_t, Range> ranges_;
    /// The bucket of a space that codes are drawn in, and how much its kind leased last.
    struct InUse {
        base::Bucket bucket;
        bool is_leased = false;  ///< false until the first grant since it was picked
        std::uint64_t last_wish = 0;
    };
    std::unordered_map<std::uint32_t, InUse> in_use_;  // by space
};

}  // namespace tenon::links
