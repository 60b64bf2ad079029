// A shared lock whose readers do not meet: each thread writes a cache line of its own.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tenon::cache {

/// What readers found.
struct Tally {
    std::uint64_t hits = 0;           ///< a value
    std::uint64_t negative_hits = 0;  ///< a known absence
    std::uint64_t misses = 0;         ///< nothing, or nothing that is still fresh
};

/// Many readers or one writer (the standard's SharedLockable), with the readers' tally beside.
///
/// A reader announces itself on its thread's stripe and retreats while a writer is inside; a writer
/// announces itself and waits until every stripe is empty. So two readers on two cores share no
/// line that either writes. Threads beyond `stripes_total` share stripes, which costs speed only.
///
/// Expects: sections of well under a microsecond; waiting is spinning that yields. A reader may
///          not enter a second time while it is inside.
/// Threads: all.
/// Cost:    two atomic additions per reader; a writer looks at every stripe.
class ReaderLock {
public:
    static constexpr std::size_t stripes_total = 16;

    void lock();
    void unlock() { writing_.store(false, std::memory_order_release); }
    void lock_shared();
    void unlock_shared() { mine().readers.fetch_sub(1, std::memory_order_release); }

    void count_hit() { mine().hits.fetch_add(1, std::memory_order_relaxed); }
    void count_negative_hit() { mine().negative_hits.fetch_add(1, std::memory_order_relaxed); }
    void count_miss() { mine().misses.fetch_add(1, std::memory_order_relaxed); }
    /// The sum over all threads; not a snapshot of one instant.
    [[nodiscard]] Tally tally() const;

private:
    struct alignas(64) Stripe {
        std::atomic<std::uint64_t> readers{0};
        std::atomic<std::uint64_t> hits{0};
        std::atomic<std::uint64_t> negative_hits{0};
        std::atomic<std::uint64_t> misses{0};
    };
    [[nodiscard]] Stripe& mine();

    std::array<Stripe, stripes_total> stripes_;
    alignas(64) std::atomic<bool> writing_{false};
};

}  // namespace tenon::cache
