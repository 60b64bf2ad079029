// A part of the near cache under one lock: its table, its queues and its running loads.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string_view>
#include <unordered_map>

#include "cache/entry.hpp"
#include "cache/ghost.hpp"
#include "cache/reader_lock.hpp"

namespace tenon::cache {

/// A key with its seeded hash, computed once per operation.
struct HashedKey {
    std::string_view text;
    std::uint64_t hash = 0;
    bool operator==(const HashedKey& other) const { return text == other.text; }
};

/// What is stored under a key.
struct Fill {
    std::shared_ptr<const void> value;  ///< null: known absence
    std::size_t bytes = 0;              ///< of the value, as its owner counts them
    Instant now;                        ///< when it was read, or written
    Instant expires;
};

/// S3-FIFO over bytes: newcomers pass a small queue of a tenth; only what was used again there, or
/// came back soon after, enters the main queue, which gives every use of an entry one more round.
///
/// Bound:   cost of the entries plus the ghost's table never exceeds `bytes_max`.
/// Threads: all.
/// Cost:    look O(1) without allocation; store amortised O(1).
/// Source:  Yang et al., "FIFO Queues are All You Need for Cache Eviction", SOSP 2023.
class Shard {
public:
    /// What an entry costs beyond its key and value: the entry, its table node and allocation.
    static constexpr std::size_t entry_overhead = sizeof(Entry) + 64;
    /// How many version counters the keys share; two keys on one counter void each other's loads,
    /// which costs a fill and never a wrong value.
    static constexpr std::size_t versions_total = 64;

    struct Options {
        std::size_t bytes_max = 0;
        std::size_t entry_bytes_max = 0;
    };
    explicit Shard(Options options);

    /// A reader's view of an entry; holds the shared lock while it lives.
    struct Look {
        std::shared_lock<ReaderLock> lock;
        const Entry* entry = nullptr;  ///< null: not known, or no longer fresh
    };
    [[nodiscard]] Look look(HashedKey key, Instant now);

    /// The counter that every invalidation of the key moves.
    [[nodiscard]] std::uint64_t version(std::uint64_t hash) const;
    /// Voids what began before and returns the new version.
    std::uint64_t advance(HashedKey key);
    /// Stores if the version is still `expected`; says whether it did.
    bool store(HashedKey key, Fill fill, std::uint64_t expected);
    /// Voids running loads and stores; with a version that has moved, removes instead.
    bool replace(HashedKey key, Fill fill, std::optional<std::uint64_t> expected);
    void invalidate(HashedKey key);
    void clear();

    [[nodiscard]] Tally tally() const { return lock_.tally(); }
    [[nodiscard]] std::size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
    [[nodiscard]] std::size_t entries() const { return entries_.load(std::memory_order_relaxed); }
    [[nodiscard]] std::uint64_t evictions() const {
        return evictions_.load(std::memory_order_relaxed);
    }
    [[nodiscard]] std::uint64_t voided() const { return voided_.load(std::memory_order_relaxed); }

private:
    struct Hash {
        std::size_t operator()(const HashedKey& key) const { return key.hash; }
    };
    using Table = std::unordered_map<HashedKey, std::unique_ptr<Entry>, Hash>;

    [[nodiscard]] std::atomic<std::uint64_t>& version_of(std::uint64_t hash);
    // All below: under the exclusive lock.
    bool place(HashedKey key, Fill fill);
    void refresh(Entry& entry, Fill fill, std::size_t cost);
    void insert(HashedKey key, Fill fill, std::size_t cost);
    bool remove(HashedKey key);
    void drop(Entry& entry);
    void make_room(std::size_t cost, Instant now);
    void advance_small(Instant now);
    void advance_main(Instant now);
    [[nodiscard]] EntryQueue& queue_of(const Entry& entry) {
        return entry.in_main ? main_ : small_;
    }
    void publish();

    const std::size_t entry_bytes_max_;
    ReaderLock lock_;
    Ghost ghost_;
    const std::size_t room_;  ///< bytes for entries
    Table table_;
    EntryQueue small_;
    EntryQueue main_;
    std::array<std::atomic<std::uint64_t>, versions_total> versions_{};
    std::atomic<std::size_t> bytes_{0};
    std::atomic<std::size_t> entries_{0};
    std::atomic<std::uint64_t> evictions_{0};
    std::atomic<std::uint64_t> voided_{0};
};

}  // namespace tenon::cache
