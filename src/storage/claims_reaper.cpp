#include "storage/claims_reaper.hpp"

#include <exception>
#include <map>
#include <utility>
#include <vector>

#include "runtime/failure.hpp"
#include "runtime/log.hpp"
#include "runtime/report.hpp"
#include "runtime/wait.hpp"
#include "storage/locks.hpp"

namespace tenon::storage {

namespace asio = boost::asio;

namespace {

// $1 buckets of one partition, $2 its first bucket and $3 the one after its last, $4 retention in
// seconds, $5 rows at most, $6 and $7 the job's lock. All projects: nothing is shown to anybody.
// Index: claims_created_at of the partition, then its primary key. The instant is a subquery so
// that it is computed once and can be an index condition.
constexpr postgres::Statement delete_old_claims{R"(
    WITH turn AS MATERIALIZED (
        SELECT pg_try_advisory_xact_lock($6::integer, $7::integer) AS ours
    ), old AS (
        SELECT bucket, project, caller, key
        FROM tenon.claims
        WHERE bucket >= $2 AND bucket < $3
          AND bucket = ANY ($1::integer[])
          AND created_at < (SELECT clock_timestamp() - $4::bigint * interval '1 second')
          AND state = 0
          AND (SELECT ours FROM turn)
        ORDER BY created_at
        LIMIT $5::integer)
    DELETE FROM tenon.claims AS claim
    USING old
    WHERE claim.bucket >= $2 AND claim.bucket < $3
      AND claim.bucket = old.bucket
      AND claim.project = old.project
      AND claim.caller = old.caller
      AND claim.key = old.key)"};

constexpr std::int32_t part_size = 64;  // tenon.partition_by_bucket's

}  // namespace

asio::awaitable<std::size_t> ClaimsReaper::reap(runtime::Call& call) {
    std::size_t deleted = 0;
    for (std::uint32_t node = 0; node < database_.nodes_total(); ++node) {
        std::map<std::int32_t, std::vector<base::Bucket>> parts;
        for (const base::Bucket bucket : database_.map().buckets_of(Node{node})) {
            parts[bucket.value / part_size].push_back(bucket);
        }
        for (auto& [part, buckets] : parts) {
            try {
                deleted += co_await reap_part(call, std::move(buckets));
            } catch (const runtime::Unavailable& away) {
                // The buckets are on the move, or their node is away; the others have their turn.
                runtime::log(runtime::Level::debug, call, "claims wait for their node",
                             {{"part", part}, {"why", away.what()}});
            }
        }
    }
    co_return deleted;
}

asio::awaitable<std::size_t> ClaimsReaper::reap_part(runtime::Call& call,
                                                     std::vector<base::Bucket> buckets) {
    const std::int32_t first = buckets.front().value / part_size * part_size;
    const auto retention = std::int64_t{options_.retention.count()};
    std::size_t deleted = 0;
    for (std::size_t affected = 0;; deleted += affected) {
        auto parameters =
            postgres::Parameters::of(buckets, first, first + part_size, retention,
                                     options_.batch_max, job_lock_class, reap_claims_lock);
        std::vector<postgres::Query> queries;
        queries.push_back({.statement = delete_old_claims, .parameters = std::move(parameters)});
        const auto results = co_await database_.write(call, buckets, std::move(queries));
        affected = results.front().affected();
        if (affected < static_cast<std::size_t>(options_.batch_max) || call.expired()) {
            co_return deleted + affected;
        }
    }
}

asio::awaitable<void> ClaimsReaper::run() {
    auto& core = database_.core();
    for (;;) {
        const auto jitter = options_.pause.count() / 10 + 1;
        co_await runtime::pause_for(options_.pause + std::chrono::milliseconds(core.random().below(
                                                         static_cast<std::uint64_t>(jitter))));
        runtime::Call call = core.make_call(options_.round_limit);
        try {
            const std::size_t deleted = co_await reap(call);
            if (deleted > 0) {
                runtime::log(runtime::Level::info, call, "deleted old idempotency claims",
                             {{"claims", deleted}});
            }
        } catch (const runtime::Failure& failure) {
            runtime::log(runtime::Level::warning, call, "a round of deleting old claims failed",
                         {{"why", failure.what()}});
        }
    }
}

}  // namespace tenon::storage
