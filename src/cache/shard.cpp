#include "cache/shard.hpp"

#include <algorithm>
#include <utility>

namespace tenon::cache {
namespace {

// One ghost slot of 8 bytes for every 512 bytes of the shard: about as many as it has entries.
constexpr std::size_t bytes_per_ghost_slot = 512;

}  // namespace

Shard::Shard(Options options)
    : entry_bytes_max_(options.entry_bytes_max),
      ghost_(options.bytes_max / bytes_per_ghost_slot / 2 + 1),
      room_(options.bytes_max > ghost_.bytes() ? options.bytes_max - ghost_.bytes() : 0) {
    bytes_.store(ghost_.bytes(), std::memory_order_relaxed);
}

Shard::Look Shard::look(HashedKey key, Instant now) {
    Look found{.lock = std::shared_lock(lock_), .entry = nullptr};
    const auto place = table_.find(key);
    if (place == table_.end()) {
        lock_.count_miss();
        return found;
    }
    const Entry& entry = *place->second;
    entry.touch();
    if (entry.expires <= now) {
        lock_.count_miss();
        return found;
    }
    entry.value != nullptr ? lock_.count_hit() : lock_.count_negative_hit();
    found.entry = &entry;
    return found;
}

std::atomic<std::uint64_t>& Shard::version_of(std::uint64_t hash) {
    return versions_[(hash >> 48) % versions_total];
}

std::uint64_t Shard::version(std::uint64_t hash) const {
    return versions_[(hash >> 48) % versions_total].load(std::memory_order_acquire);
}

std::uint64_t Shard::advance(HashedKey key) {
    const std::scoped_lock guard(lock_);
    return version_of(key.hash).fetch_add(1, std::memory_order_acq_rel) + 1;
}

bool Shard::store(HashedKey key, Fill fill, std::uint64_t expected) {
    const std::scoped_lock guard(lock_);
    if (version_of(key.hash).load(std::memory_order_relaxed) != expected) {
        voided_.fetch_add(1, std::memory_order_relaxed);
        return false;
    }
    return place(key, std::move(fill));
}

bool Shard::replace(HashedKey key, Fill fill, std::optional<std::uint64_t> expected) {
    const std::scoped_lock guard(lock_);
    const auto before = version_of(key.hash).fetch_add(1, std::memory_order_acq_rel);
    if (expected && *expected != before) {
        voided_.fetch_add(1, std::memory_order_relaxed);
        if (remove(key)) publish();
        return false;
    }
    return place(key, std::move(fill));
}

void Shard::invalidate(HashedKey key) {
    const std::scoped_lock guard(lock_);
    version_of(key.hash).fetch_add(1, std::memory_order_acq_rel);
    if (remove(key)) publish();
}

void Shard::clear() {
    Table doomed;
    const std::scoped_lock guard(lock_);
    for (auto& version : versions_) version.fetch_add(1, std::memory_order_acq_rel);
    small_ = main_ = EntryQueue{};
    std::swap(doomed, table_);
    ghost_.clear();
    publish();
}

bool Shard::place(HashedKey key, Fill fill) {
    const std::size_t size = key.text.size() + fill.bytes;
    const std::size_t cost = size + entry_overhead;
    const auto known = table_.find(key);
    const bool fits = size <= entry_bytes_max_ && cost <= room_;
    if (!fits) {
        // What is here is older than what could not be stored.
        remove(key);
    } else if (known != table_.end()) {
        refresh(*known->second, std::move(fill), cost);
    } else {
        insert(key, std::move(fill), cost);
    }
    publish();
    return fits;
}

// A refreshed entry keeps its place, so that being reloaded is no merit of its own. One that grew
// leaves its queue while room is made, lest it be evicted for itself.
void Shard::refresh(Entry& entry, Fill fill, std::size_t cost) {
    EntryQueue& queue = queue_of(entry);
    if (cost != entry.cost) {
        queue.remove(entry);
        entry.cost = cost;
        make_room(cost, fill.now);
        queue.push(entry);
    }
    entry.value = std::move(fill.value);
    entry.expires = fill.expires;
}

void Shard::insert(HashedKey key, Fill fill, std::size_t cost) {
    make_room(cost, fill.now);
    auto entry = std::make_unique<Entry>();
    entry->key = std::string(key.text);
    entry->hash = key.hash;
    entry->value = std::move(fill.value);
    entry->expires = fill.expires;
    entry->cost = cost;
    entry->in_main = ghost_.contains(key.hash, std::min(table_.size() + 1, ghost_.slots()));
    Entry& placed = *entry;
    table_.emplace(HashedKey{.text = placed.key, .hash = placed.hash}, std::move(entry));
    queue_of(placed).push(placed);
}

bool Shard::remove(HashedKey key) {
    const auto place = table_.find(key);
    if (place == table_.end()) return false;
    queue_of(*place->second).remove(*place->second);
    drop(*place->second);
    return true;
}

// The table's key is a view of the entry's own text: the node goes first, then the entry.
void Shard::drop(Entry& entry) {
    const auto node = table_.extract(HashedKey{.text = entry.key, .hash = entry.hash});
}

void Shard::make_room(std::size_t cost, Instant now) {
    while (small_.bytes() + main_.bytes() + cost > room_) {
        if (small_.bytes() * 10 >= room_ || main_.oldest() == nullptr) {
            advance_small(now);
        } else {
            advance_main(now);
        }
    }
}

void Shard::advance_small(Instant now) {
    Entry& entry = *small_.oldest();
    small_.remove(entry);
    if (entry.frequency.load(std::memory_order_relaxed) > 1 && entry.expires > now) {
        entry.frequency.store(0, std::memory_order_relaxed);
        entry.in_main = true;
        main_.push(entry);
        return;
    }
    ghost_.add(entry.hash);
    evictions_.fetch_add(1, std::memory_order_relaxed);
    drop(entry);
}

// An entry past its time gets no further round, but if it was used it may come back to this queue.
void Shard::advance_main(Instant now) {
    Entry& entry = *main_.oldest();
    main_.remove(entry);
    const auto frequency = entry.frequency.load(std::memory_order_relaxed);
    if (frequency > 0 && entry.expires > now) {
        entry.frequency.store(static_cast<std::uint8_t>(frequency - 1), std::memory_order_relaxed);
        main_.push(entry);
        return;
    }
    if (frequency > 0) ghost_.add(entry.hash);
    evictions_.fetch_add(1, std::memory_order_relaxed);
    drop(entry);
}

void Shard::publish() {
    bytes_.store(small_.bytes() + main_.bytes() + ghost_.bytes(), std::memory_order_relaxed);
    entries_.store(table_.size(), std::memory_order_relaxed);
}

}  // namespace tenon::cache
