// The nearest copy: in this process, bounded by bytes, scan-resistant.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "cache/entry.hpp"
#include "cache/shard.hpp"

namespace tenon::cache {

/// How a near cache is bounded.
struct NearCacheOptions {
    /// All entries with their keys and upkeep, and the ghost tables; never exceeded. Space is
    /// divided evenly over up to 64 shards. Minimum: 16 entries of the largest size.
    std::size_t bytes_max = 64 << 20;
    /// A larger key and value together are not stored.
    std::size_t entry_bytes_max = 16 << 10;
    /// The stated bound of staleness: no value is returned this long after its load began.
    std::chrono::milliseconds ttl{5'000};
    /// Up to this share of the ttl is taken off, uniformly, so that what was filled together does
    /// not expire together. 0 .. 1.
    double ttl_jitter = 0.1;
    /// The same bound for known absences.
    std::chrono::milliseconds negative_ttl{1'000};
    /// Seed of hashes and jitter; drawn from the kernel when absent, so that nobody outside can
    /// choose keys that fall into one place.
    std::optional<std::uint64_t> seed;
};

/// What a cache did since its start, and holds now; each number on its own, not one instant's.
struct NearCacheStats {
    std::uint64_t hits = 0;
    std::uint64_t negative_hits = 0;
    std::uint64_t misses = 0;
    std::uint64_t evictions = 0;
    std::uint64_t voided = 0;  ///< fills refused because of an invalidation since they began
    std::size_t entries = 0;
    std::size_t bytes = 0;  ///< counted as bytes_max counts
};

/// The part of NearCache that does not depend on the value's type.
class ShardedCache {
public:
    using Options = NearCacheOptions;
    using Stats = NearCacheStats;

    /// A load or write that has begun. Keep it until the value is there, then hand it to put.
    struct Ticket {
        std::string key;
        std::uint64_t hash = 0;
        std::uint64_t version = 0;
        Instant begun;
    };

    explicit ShardedCache(Options options);
    ~ShardedCache();
    ShardedCache(const ShardedCache&) = delete;
    ShardedCache& operator=(const ShardedCache&) = delete;

    /// Take this after a miss and before reading the source. Cost: no lock; copies the key.
    [[nodiscard]] Ticket begin_load(std::string_view key, Instant now) const;
    /// Take this before a write is sent: voids running loads now, and keeps of two writers whose
    /// writes overlap the one whose commit may have come first from storing its value.
    [[nodiscard]] Ticket begin_write(std::string_view key, Instant now);
    /// Removes the entry and voids loads of it that are running. Call it after the commit.
    /// Source: F64, F69.
    void invalidate(std::string_view key);
    /// Removes everything and voids all running loads and writes.
    void clear();
    [[nodiscard]] Stats stats() const;
    /// How long a fill may take and still be stored, and the bound of staleness.
    [[nodiscard]] const Options& options() const { return options_; }

protected:
    using Untyped = std::shared_ptr<const void>;
    struct Item {
        Untyped value;
        std::size_t bytes = 0;
    };
    [[nodiscard]] Shard::Look look(std::string_view key, Instant now) const;
    bool store(const Ticket& ticket, Item item);
    bool replace(const Ticket& ticket, Item item);
    bool replace(std::string_view key, Item item, Instant now);

private:
    [[nodiscard]] HashedKey hashed(std::string_view key) const;
    [[nodiscard]] Shard& shard_of(std::uint64_t hash) const;
    [[nodiscard]] Fill fill(Item item, Instant begun, std::uint64_t hash);

    Options options_;
    std::uint64_t seed_;
    std::size_t shards_total_;
    std::unique_ptr<std::unique_ptr<Shard>[]> shards_;
    std::atomic<std::uint64_t> fills_{0};
};

/// Values of one kind, shared and immutable, for all cores of the process.
///
/// Shape:   get never loads. A reader that misses takes begin_load, reads the source and puts; the
///          value is stored only if no invalidation of the key came since (F64). A writer calls
///          put_own_write after its commit, or invalidate. A known absence is a value of its own
///          with its own short ttl.
/// Bound:   a value is returned for less than `ttl` after its load began, an absence for less than
///          `negative_ttl`; a slower load's result is not kept. Bytes: see Options.
/// Threads: all. A hit takes no exclusive lock: it writes its thread's own line of the shard's
///          ReaderLock and, until an entry is hot, the entry's frequency. get() also counts the
///          shared pointer up, on a line that all cores share; with() does not.
/// Cost:    O(1); hits allocate nothing. With one hot key on two cores with() took a third of
/// get(). Source:  foundation 5; F62, F64, F69.
template <class Value>
class NearCache : public ShardedCache {
public:
    using Pointer = std::shared_ptr<const Value>;
    struct Found {
        Pointer value;  ///< null: known absence
    };
    using ShardedCache::ShardedCache;

    /// nullopt: not known here.
    [[nodiscard]] std::optional<Found> get(std::string_view key, Instant now) const {
        const Shard::Look found = look(key, now);
        if (found.entry == nullptr) return std::nullopt;
        return Found{std::static_pointer_cast<const Value>(found.entry->value)};
    }

    /// Calls `use` with a pointer to the value, null for a known absence; false: not known here.
    ///
    /// Expects: `use` is short, throws nothing, keeps no pointer and does not touch this cache,
    ///          because writers of the shard wait for it.
    template <class Use>
    bool with(std::string_view key, Instant now, Use&& use) const {
        const Shard::Look found = look(key, now);
        if (found.entry == nullptr) return false;
        std::invoke(std::forward<Use>(use), static_cast<const Value*>(found.entry->value.get()));
        return true;
    }

    /// Keeps what a load found, `bytes` being the value's size on the heap; false when it was
    /// voided or is too large. Expects: value is not null.
    bool put(const Ticket& ticket, Pointer value, std::size_t bytes) {
        return store(ticket, {.value = std::move(value), .bytes = bytes});
    }
    /// Keeps that a load found nothing.
    bool put_absence(const Ticket& ticket) { return store(ticket, {}); }

    /// After the commit of a write made here: replaces the value and voids running loads. Of two
    /// writes at once the last to call wins, whichever committed last; where that may happen, use
    /// begin_write.
    bool put_own_write(std::string_view key, Pointer value, std::size_t bytes, Instant now) {
        return replace(key, {.value = std::move(value), .bytes = bytes}, now);
    }
    /// The same with begin_write's ticket: when another write or an invalidation came since,
    /// nothing is kept under the key, as nobody knows here which commit was last.
    bool put_own_write(const Ticket& ticket, Pointer value, std::size_t bytes) {
        return replace(ticket, {.value = std::move(value), .bytes = bytes});
    }
    /// After the commit of a deletion made here.
    bool put_own_absence(std::string_view key, Instant now) { return replace(key, {}, now); }
    bool put_own_absence(const Ticket& ticket) { return replace(ticket, {}); }
};

}  // namespace tenon::cache
