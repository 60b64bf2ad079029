#include "cache/near_cache.hpp"

#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "base/assert.hpp"
#include "base/random.hpp"

namespace tenon::cache {
namespace {

constexpr std::size_t shards_max = 64;
constexpr std::size_t largest_entries_per_shard_min = 16;

// With fewer, larger shards an entry of the largest size is still a small part of its shard.
std::size_t count_shards(const NearCacheOptions& options) {
    const std::size_t least = options.entry_bytes_max * largest_entries_per_shard_min;
    return std::bit_floor(std::clamp<std::size_t>(options.bytes_max / least, 1, shards_max));
}

std::uint64_t draw_seed() {
    base::SecureRandom random;
    return random.next();
}

}  // namespace

ShardedCache::ShardedCache(Options options)
    : options_(options),
      seed_(options.seed ? *options.seed : draw_seed()),
      shards_total_(count_shards(options)),
      shards_(std::make_unique<std::unique_ptr<Shard>[]>(shards_total_)) {
    TENON_ASSERT(options.ttl_jitter >= 0 && options.ttl_jitter <= 1);
    TENON_ASSERT(options.bytes_max >= options.entry_bytes_max * largest_entries_per_shard_min);
    for (std::size_t index = 0; index < shards_total_; ++index) {
        shards_[index] =
            std::make_unique<Shard>(Shard::Options{.bytes_max = options.bytes_max / shards_total_,
                                                   .entry_bytes_max = options.entry_bytes_max});
    }
}

ShardedCache::~ShardedCache() = default;

HashedKey ShardedCache::hashed(std::string_view key) const {
    return {.text = key, .hash = XXH3_64bits_withSeed(key.data(), key.size(), seed_)};
}

Shard& ShardedCache::shard_of(std::uint64_t hash) const {
    return *shards_[hash & (shards_total_ - 1)];
}

Shard::Look ShardedCache::look(std::string_view key, Instant now) const {
    const HashedKey named = hashed(key);
    return shard_of(named.hash).look(named, now);
}

ShardedCache::Ticket ShardedCache::begin_load(std::string_view key, Instant now) const {
    const HashedKey named = hashed(key);
    return {.key = std::string(key),
            .hash = named.hash,
            .version = shard_of(named.hash).version(named.hash),
            .begun = now};
}

ShardedCache::Ticket ShardedCache::begin_write(std::string_view key, Instant now) {
    const HashedKey named = hashed(key);
    return {.key = std::string(key),
            .hash = named.hash,
            .version = shard_of(named.hash).advance(named),
            .begun = now};
}

// Time is counted from the load's beginning: what it read may have changed right after.
Fill ShardedCache::fill(Item item, Instant begun, std::uint64_t hash) {
    const std::uint64_t count = fills_.fetch_add(1, std::memory_order_relaxed);
    const std::uint64_t bits = XXH3_64bits_withSeed(&count, sizeof count, seed_ ^ hash);
    const double share = static_cast<double>(bits >> 11) * 0x1p-53;
    const auto ttl = item.value != nullptr ? options_.ttl : options_.negative_ttl;
    const std::chrono::duration<double, std::milli> kept =
        ttl * (1.0 - options_.ttl_jitter * share);
    return {.value = std::move(item.value),
            .bytes = item.bytes,
            .now = begun,
            .expires = begun + std::chrono::floor<Instant::duration>(kept)};
}

bool ShardedCache::store(const Ticket& ticket, Item item) {
    return shard_of(ticket.hash)
        .store({.text = ticket.key, .hash = ticket.hash},
               fill(std::move(item), ticket.begun, ticket.hash), ticket.version);
}

bool ShardedCache::replace(const Ticket& ticket, Item item) {
    return shard_of(ticket.hash)
        .replace({.text = ticket.key, .hash = ticket.hash},
                 fill(std::move(item), ticket.begun, ticket.hash), ticket.version);
}

bool ShardedCache::replace(std::string_view key, Item item, Instant now) {
    const HashedKey named = hashed(key);
    return shard_of(named.hash)
        .replace(named, fill(std::move(item), now, named.hash), std::nullopt);
}

void ShardedCache::invalidate(std::string_view key) {
    const HashedKey named = hashed(key);
    shard_of(named.hash).invalidate(named);
}

void ShardedCache::clear() {
    for (std::size_t index = 0; index < shards_total_; ++index) shards_[index]->clear();
}

ShardedCache::Stats ShardedCache::stats() const {
    Stats sum;
    for (std::size_t index = 0; index < shards_total_; ++index) {
        const Shard& shard = *shards_[index];
        const Tally tally = shard.tally();
        sum.hits += tally.hits;
        sum.negative_hits += tally.negative_hits;
        sum.misses += tally.misses;
        sum.evictions += shard.evictions();
        sum.voided += shard.voided();
        sum.entries += shard.entries();
        sum.bytes += shard.bytes();
    }
    return sum;
}

}  // namespace tenon::cache
