#include "cache/reader_lock.hpp"

#include <thread>

namespace tenon::cache {
namespace {

std::atomic<std::size_t> threads_seen{0};

std::size_t stripe_of_this_thread() {
    thread_local const std::size_t stripe =
        threads_seen.fetch_add(1, std::memory_order_relaxed) % ReaderLock::stripes_total;
    return stripe;
}

}  // namespace

ReaderLock::Stripe& ReaderLock::mine() {
    return stripes_[stripe_of_this_thread()];
}

// Announcing before looking, on both sides and in one total order (seq_cst), is what makes sure
// that of a reader and a writer who come together at least one sees the other.
void ReaderLock::lock() {
    while (writing_.exchange(true, std::memory_order_seq_cst)) std::this_thread::yield();
    for (Stripe& stripe : stripes_) {
        while (stripe.readers.load(std::memory_order_seq_cst) != 0) std::this_thread::yield();
    }
}

void ReaderLock::lock_shared() {
    Stripe& stripe = mine();
    for (;;) {
        stripe.readers.fetch_add(1, std::memory_order_seq_cst);
        if (!writing_.load(std::memory_order_seq_cst)) return;
        stripe.readers.fetch_sub(1, std::memory_order_release);
        while (writing_.load(std::memory_order_relaxed)) std::this_thread::yield();
    }
}

Tally ReaderLock::tally() const {
    Tally sum;
    for (const Stripe& stripe : stripes_) {
        sum.hits += stripe.hits.load(std::memory_order_relaxed);
        sum.negative_hits += stripe.negative_hits.load(std::memory_order_relaxed);
        sum.misses += stripe.misses.load(std::memory_order_relaxed);
    }
    return sum;
}

}  // namespace tenon::cache
