#include <fmt/format.h>

#include <cstdlib>

#include "app/doctor.hpp"
#include "runtime/units.hpp"

namespace tenon::app {

namespace {

constexpr int major_oldest = 7;

Finding judge_version(const RedisFacts& redis) {
    const int major = std::atoi(redis.version.c_str());
    return make_finding("redis.version", major >= major_oldest ? Severity::ok : Severity::failure,
                        fmt::format("{} {}", redis.name, redis.version),
                        fmt::format("use Redis {} or newer, or Valkey", major_oldest));
}

/// What lies there may be lost and is rebuilt, so it may be evicted; what must not happen is that
/// it grows until the machine ends it, or that it refuses to take more.
Finding judge_eviction(const RedisFacts& redis) {
    constexpr const char* fix =
        "set maxmemory to what the machine can spare and maxmemory-policy to allkeys-lru";
    if (redis.bytes_max == 0) {
        return make_finding("redis.eviction", Severity::info,
                            "maxmemory is not set: it grows as it needs", fix);
    }
    const bool evicts = redis.eviction != "noeviction";
    return make_finding(
        "redis.eviction", evicts ? Severity::ok : Severity::warning,
        fmt::format("maxmemory = {}, maxmemory-policy = {}{}",
                    runtime::format_bytes(static_cast<std::uint64_t>(redis.bytes_max)),
                    redis.eviction, evicts ? "" : ": when full it refuses to take more"),
        fix);
}

Finding judge_persistence(const RedisFacts& redis) {
    constexpr const char* fix = "appendonly no and save \"\": nothing here needs to last";
    const bool saves = redis.saves && !redis.saves->empty();
    if (redis.save_failed) {
        return make_finding("redis.persistence", Severity::warning,
                            "the last snapshot failed: it may refuse writes", fix);
    }
    if (!redis.appends && !saves) {
        return make_finding("redis.persistence", Severity::ok,
                            redis.saves ? "nothing is written to disk" : "no append-only file", "");
    }
    return make_finding("redis.persistence", Severity::info,
                        fmt::format("it writes {} to disk, which costs pauses and is not needed",
                                    redis.appends ? "an append-only file" : "snapshots"),
                        fix);
}

}  // namespace

std::vector<Finding> judge_redis(const RedisFacts& redis) {
    if (!redis.unreachable.empty()) {
        // Answers go on without it, which is what /readyz says, too.
        return {
            make_finding("redis.reachable", Severity::warning, redis.unreachable,
                         "start it, or correct redis.address, redis.username and redis.password")};
    }
    return {make_finding("redis.reachable", Severity::ok, "it answers", ""), judge_version(redis),
            judge_eviction(redis), judge_persistence(redis)};
}

}  // namespace tenon::app
