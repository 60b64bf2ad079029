// What stays and what goes: the bound in bytes, scans, and hit ratios beside plain LRU.
#include <gtest/gtest.h>

#include <cmath>
#include <list>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "cache/near_cache.hpp"

namespace tenon::cache {
namespace {

using namespace std::chrono_literals;
using Numbers = NearCache<int>;

constexpr Instant now{1h};
constexpr std::size_t entry_bytes = 256;

NearCacheOptions options_of(std::size_t bytes_max) {
    return {.bytes_max = bytes_max,
            .entry_bytes_max = 4 << 10,
            .ttl = 1h,
            .ttl_jitter = 0,
            .negative_ttl = 1h,
            .seed = 3};
}

/// Reads a key and fills it after a miss; says whether it was a hit.
bool use(Numbers& cache, const std::string& key) {
    if (cache.get(key, now)) return true;
    cache.put(cache.begin_load(key, now), std::make_shared<int>(1), entry_bytes);
    return false;
}

TEST(NearCacheEviction, BytesNeverExceedTheBoundUnderRandomSizes) {
    Numbers cache(options_of(1 << 20));
    std::mt19937_64 random(5);
    for (int step = 0; step < 50'000; ++step) {
        const std::string key(1 + random() % 40, static_cast<char>('a' + random() % 26));
        const std::string name = key + std::to_string(random() % 2000);
        const auto size = static_cast<std::size_t>(random() % 5000);
        cache.put(cache.begin_load(name, now), std::make_shared<int>(1), size);
        if (random() % 8 == 0) (void)cache.get(name, now);
        if (random() % 64 == 0) cache.invalidate(name);
        ASSERT_LE(cache.stats().bytes, std::size_t{1} << 20);
    }
    EXPECT_GT(cache.stats().evictions, 10'000u);
    EXPECT_GT(cache.stats().bytes, (std::size_t{1} << 20) * 3 / 4);
}

TEST(NearCacheEviction, AHotSetSurvivesAScanOfTenTimesTheCapacity) {
    Numbers cache(options_of(4 << 20));
    const std::size_t fits = (4 << 20) / (entry_bytes + Shard::entry_overhead);
    const std::size_t hot = fits / 4;
    for (int round = 0; round < 4; ++round) {
        for (std::size_t index = 0; index < hot; ++index) use(cache, "hot" + std::to_string(index));
    }
    for (std::size_t index = 0; index < fits * 10; ++index) {
        use(cache, "scan" + std::to_string(index));
    }
    std::size_t kept = 0;
    for (std::size_t index = 0; index < hot; ++index) {
        kept += cache.get("hot" + std::to_string(index), now) ? 1 : 0;
    }
    EXPECT_GT(kept, hot * 95 / 100) << "of " << hot;
}

/// Plain least-recently-used by count, to compare with.
class Lru {
public:
    explicit Lru(std::size_t count_max) : count_max_(count_max) {}
    bool use(int key) {
        const auto place = places_.find(key);
        if (place != places_.end()) {
            order_.splice(order_.begin(), order_, place->second);
            return true;
        }
        if (places_.size() == count_max_) {
            places_.erase(order_.back());
            order_.pop_back();
        }
        order_.push_front(key);
        places_[key] = order_.begin();
        return false;
    }

private:
    std::size_t count_max_;
    std::list<int> order_;
    std::unordered_map<int, std::list<int>::iterator> places_;
};

/// Ranks 0 .. count - 1 with probability falling as 1 / rank^exponent.
class Zipf {
public:
    Zipf(int count, double exponent) {
        double sum = 0;
        for (int rank = 1; rank <= count; ++rank) {
            sum += 1.0 / std::pow(rank, exponent);
            sums_.push_back(sum);
        }
    }
    int operator()(std::mt19937_64& random) {
        std::uniform_real_distribution<double> uniform(0, sums_.back());
        return static_cast<int>(std::ranges::upper_bound(sums_, uniform(random)) - sums_.begin());
    }

private:
    std::vector<double> sums_;
};

struct Ratios {
    double near_cache = 0;
    double lru = 0;
};

Ratios compare(double exponent) {
    constexpr int keys_total = 100'000;
    constexpr int uses_total = 400'000;
    Numbers cache(options_of(4 << 20));
    // LRU is granted every byte that a ghost and a name cost here.
    Lru lru((4 << 20) / (entry_bytes + Shard::entry_overhead));
    Zipf zipf(keys_total, exponent);
    std::mt19937_64 random(1);
    int hits = 0, lru_hits = 0;
    for (int step = 0; step < uses_total; ++step) {
        const int key = zipf(random);
        hits += use(cache, std::to_string(key));
        lru_hits += lru.use(key);
    }
    return {static_cast<double>(hits) / uses_total, static_cast<double>(lru_hits) / uses_total};
}

TEST(NearCacheEviction, HitsMoreOftenThanLruOnZipf) {
    for (const double exponent : {0.7, 0.9, 1.0}) {
        const Ratios ratios = compare(exponent);
        RecordProperty(
            "zipf_" + std::to_string(exponent),
            std::to_string(ratios.near_cache) + " beside LRU " + std::to_string(ratios.lru));
        EXPECT_GT(ratios.near_cache, ratios.lru + 0.02) << "exponent " << exponent;
    }
}

TEST(NearCacheEviction, AnExpiredEntryMakesRoomFirst) {
    auto options = options_of(64 << 10);
    options.ttl = 10ms;
    Numbers cache(options);
    for (int round = 0; round < 3; ++round) use(cache, "old");
    const std::string big(3 << 10, 'k');
    const Instant later = now + 10ms;
    for (int index = 0; index < 40; ++index) {
        cache.put(cache.begin_load(big + std::to_string(index), later), std::make_shared<int>(1),
                  1);
    }
    EXPECT_FALSE(cache.get("old", now));
}

}  // namespace
}  // namespace tenon::cache
