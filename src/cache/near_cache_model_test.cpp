// The near cache against a naive map with the same rules.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "cache/near_cache.hpp"

namespace tenon::cache {
namespace {

using namespace std::chrono_literals;
using Numbers = NearCache<int>;

constexpr auto ttl = 50ms;
constexpr auto negative_ttl = 20ms;

enum class Act { load, put, put_absence, own_write, own_absence, invalidate, clear, get, wait };

struct Step {
    Act act = Act::get;
    int key = 0;     ///< few, so that steps meet
    int number = 0;  ///< value, bytes, ticket or milliseconds
};

std::ostream& operator<<(std::ostream& out, const Step& step) {
    return out << "{" << static_cast<int>(step.act) << " key " << step.key << " number "
               << step.number << "}";
}

rc::Gen<Step> any_step() {
    return rc::gen::apply(
        [](int act, int key, int number) { return Step{static_cast<Act>(act), key, number}; },
        rc::gen::inRange(0, 9), rc::gen::inRange(0, 12), rc::gen::inRange(0, 4000));
}

/// What may be returned for a key: the newest thing stored, while it is fresh.
struct Known {
    std::optional<int> value;
    Instant expires;
};

/// A ticket beside how many voiding steps its key, and all keys, had seen.
struct Running {
    Numbers::Ticket ticket;
    int key = 0;
    int voids_of_key = 0;
    int voids_of_all = 0;
};

class Model {
public:
    explicit Model(NearCacheOptions options)
        : cache_(options), lossless_(options.bytes_max > 4'000'000) {}

    void take(const Step& step) {
        const std::string key = std::to_string(step.key);
        switch (step.act) {
            case Act::load:
                return begin(step.key, key);
            case Act::put:
            case Act::put_absence:
                return finish(step);
            case Act::own_write:
                return own(step, key, step.number);
            case Act::own_absence:
                return own(step, key, std::nullopt);
            case Act::invalidate:
                cache_.invalidate(key);
                return forget(step.key);
            case Act::clear:
                return clear();
            case Act::get:
                return check(step.key, key);
            case Act::wait:
                now_ += std::chrono::milliseconds(step.number % 16);
                return;
        }
    }

private:
    void begin(int number, const std::string& key) {
        running_.push_back({cache_.begin_load(key, now_), number, voids_[number], voids_total_});
    }

    void finish(const Step& step) {
        if (running_.empty()) return;
        const auto place = running_.begin() + step.number % static_cast<int>(running_.size());
        const Running run = *place;
        running_.erase(place);
        std::optional<int> value;
        if (step.act == Act::put) value = step.number;
        const bool stored = value
                                ? cache_.put(run.ticket, std::make_shared<int>(*value), bytes(step))
                                : cache_.put_absence(run.ticket);
        if (run.voids_of_key != voids_[run.key]) RC_ASSERT(!stored);
        // Keys share version counters, so another key's invalidation may refuse a fill as well.
        if (run.voids_of_all == voids_total_) RC_ASSERT(stored);
        if (stored) known_[run.key] = {value, run.ticket.begun + (value ? ttl : negative_ttl)};
    }

    void own(const Step& step, const std::string& key, std::optional<int> value) {
        forget(step.key);
        const bool stored =
            value ? cache_.put_own_write(key, std::make_shared<int>(*value), bytes(step), now_)
                  : cache_.put_own_absence(key, now_);
        RC_ASSERT(stored);
        known_[step.key] = {value, now_ + (value ? ttl : negative_ttl)};
    }

    void forget(int key) {
        known_.erase(key);
        ++voids_[key];
        ++voids_total_;
    }

    void clear() {
        cache_.clear();
        for (int key = 0; key < 12; ++key) forget(key);
    }

    void check(int number, const std::string& key) {
        const auto found = cache_.get(key, now_);
        const auto known = known_.find(number);
        const bool fresh = known != known_.end() && known->second.expires > now_;
        if (lossless_ && fresh) RC_ASSERT(found.has_value());
        if (!found) return;
        RC_ASSERT(fresh);
        RC_ASSERT((found->value != nullptr) == known->second.value.has_value());
        if (found->value) RC_ASSERT(*found->value == *known->second.value);
        RC_ASSERT(cache_.stats().bytes <= cache_.options().bytes_max);
    }

    static std::size_t bytes(const Step& step) { return static_cast<std::size_t>(step.number); }

    Numbers cache_;
    bool lossless_;
    Instant now_{1h};
    std::map<int, Known> known_;
    std::map<int, int> voids_;
    int voids_total_ = 0;
    std::vector<Running> running_;
};

void run(std::size_t bytes_max, const std::vector<Step>& steps) {
    Model model({.bytes_max = bytes_max,
                 .entry_bytes_max = 4 << 10,
                 .ttl = ttl,
                 .ttl_jitter = 0,
                 .negative_ttl = negative_ttl,
                 .seed = 11});
    for (const Step& step : steps) model.take(step);
}

RC_GTEST_PROP(NearCacheModel, WithRoomForAllItIsTheMap, ()) {
    run(8 << 20, *rc::gen::container<std::vector<Step>>(any_step()));
}

// Sixteen entries at most: about half of the keys at their largest fit.
RC_GTEST_PROP(NearCacheModel, WithoutRoomItForgetsButNeverReturnsTheWrongThing, ()) {
    run(64 << 10, *rc::gen::resize(400, rc::gen::container<std::vector<Step>>(any_step())));
}

}  // namespace
}  // namespace tenon::cache
