// Many threads on few keys; run under ThreadSanitizer as well.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "cache/near_cache.hpp"

namespace tenon::cache {
namespace {

using namespace std::chrono_literals;

constexpr int keys_total = 8;
constexpr int steps_total = 20'000;
constexpr Instant now{1h};

NearCacheOptions small_options() {
    return {.bytes_max = 64 << 10,
            .entry_bytes_max = 4 << 10,
            .ttl = 1h,
            .ttl_jitter = 0,
            .negative_ttl = 1h,
            .seed = 3};
}

/// The source of truth: versions that only grow. `announced` is what every reader must see who
/// begins after the invalidation has returned.
struct Source {
    std::atomic<int> committed{0};
    std::atomic<int> announced{0};
    std::mutex writing;
};

class Race {
public:
    void read(std::mt19937& random) {
        const int index = static_cast<int>(random() % keys_total);
        const std::string key = std::to_string(index);
        Source& source = sources_[static_cast<std::size_t>(index)];
        const int least = source.announced.load();
        if (const auto found = cache_.get(key, now)) {
            if (found->value != nullptr && *found->value < least) stale_.fetch_add(1);
            return;
        }
        const auto ticket = cache_.begin_load(key, now);
        const int loaded = source.committed.load();
        if (random() % 4 == 0) std::this_thread::yield();
        cache_.put(ticket, std::make_shared<int>(loaded), random() % 2000);
    }

    void write(std::mt19937& random) {
        const int index = static_cast<int>(random() % keys_total);
        const std::string key = std::to_string(index);
        Source& source = sources_[static_cast<std::size_t>(index)];
        if (random() % 2 == 0) {
            const std::scoped_lock order(source.writing);
            const int committed = source.committed.fetch_add(1) + 1;
            cache_.invalidate(key);
            source.announced.store(committed);
        } else {
            write_with_ticket(source, key);
        }
        if (random() % 256 == 0) cache_.clear();
    }

    /// Commits may overtake each other here; what is announced is only what both have finished.
    void write_with_ticket(Source& source, const std::string& key) {
        const auto ticket = cache_.begin_write(key, now);
        const int committed = source.committed.fetch_add(1) + 1;
        cache_.put_own_write(ticket, std::make_shared<int>(committed), 10);
        int before = source.announced.load();
        while (before < committed && !source.announced.compare_exchange_weak(before, committed)) {
        }
    }

    [[nodiscard]] int stale() const { return stale_.load(); }
    [[nodiscard]] NearCacheStats stats() const { return cache_.stats(); }

private:
    NearCache<int> cache_{small_options()};
    std::array<Source, keys_total> sources_;
    std::atomic<int> stale_{0};
};

TEST(NearCacheRace, NoReaderSeesWhatWasInvalidatedBeforeItBegan) {
    Race race;
    std::vector<std::jthread> threads;
    for (unsigned seed = 0; seed < 6; ++seed) {
        threads.emplace_back([&race, seed] {
            std::mt19937 random(seed);
            for (int step = 0; step < steps_total; ++step) {
                seed < 4 || step % 4 != 0 ? race.read(random) : race.write(random);
            }
        });
    }
    threads.clear();
    EXPECT_EQ(race.stale(), 0);
    const auto stats = race.stats();
    EXPECT_GT(stats.hits, 0u);
    EXPECT_LE(stats.bytes, std::size_t{64} << 10);
}

TEST(NearCacheRace, ReadersAndEvictingWritersShareAShard) {
    NearCache<std::string> cache(small_options());
    std::atomic<int> wrong{0};
    std::vector<std::jthread> threads;
    for (unsigned seed = 0; seed < 4; ++seed) {
        threads.emplace_back([&, seed] {
            std::mt19937 random(seed);
            for (int step = 0; step < steps_total; ++step) {
                const std::string key = std::to_string(random() % 200);
                const bool known = cache.with(key, now, [&](const std::string* value) {
                    if (value == nullptr || *value != key) wrong.fetch_add(1);
                });
                if (known) continue;
                cache.put(cache.begin_load(key, now), std::make_shared<std::string>(key), 900);
            }
        });
    }
    threads.clear();
    EXPECT_EQ(wrong.load(), 0);
    EXPECT_GT(cache.stats().evictions, 100u);
}

}  // namespace
}  // namespace tenon::cache
