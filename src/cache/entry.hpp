// One cached value, and the queues that entries stand in.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace tenon::cache {

using Instant = std::chrono::steady_clock::time_point;

/// A key's value or known absence, as a shard holds it.
///
/// Threads: everything is written under the shard's exclusive lock, save `frequency`.
struct Entry {
    static constexpr std::uint8_t frequency_max = 3;

    std::string key;
    std::uint64_t hash = 0;
    std::shared_ptr<const void> value;  ///< null: known absence
    Instant expires;
    std::size_t cost = 0;  ///< bytes that count against the bound
    bool in_main = false;
    mutable std::atomic<std::uint8_t> frequency{0};
    Entry* older = nullptr;
    Entry* newer = nullptr;

    /// Notes a use. A use lost to a race does no harm; once at the maximum nothing is written, so
    /// a hot entry's line stays shared between the cores.
    void touch() const {
        const auto seen = frequency.load(std::memory_order_relaxed);
        if (seen < frequency_max) {
            frequency.store(static_cast<std::uint8_t>(seen + 1), std::memory_order_relaxed);
        }
    }
};

/// Entries in order of arrival, with their bytes.
///
/// Owns:    nothing.
/// Threads: one at a time.
class EntryQueue {
public:
    void push(Entry& entry) {
        entry.older = newest_;
        entry.newer = nullptr;
        (newest_ != nullptr ? newest_->newer : oldest_) = &entry;
        newest_ = &entry;
        bytes_ += entry.cost;
    }
    /// Expects: `entry` stands in this queue and its cost is what it was at push().
    void remove(Entry& entry) {
        (entry.older != nullptr ? entry.older->newer : oldest_) = entry.newer;
        (entry.newer != nullptr ? entry.newer->older : newest_) = entry.older;
        entry.older = entry.newer = nullptr;
        bytes_ -= entry.cost;
    }
    [[nodiscard]] Entry* oldest() const { return oldest_; }
    [[nodiscard]] std::size_t bytes() const { return bytes_; }

private:
    Entry* oldest_ = nullptr;
    Entry* newest_ = nullptr;
    std::size_t bytes_ = 0;
};

}  // namespace tenon::cache
