#include "storage/claims_reaper.hpp"

#include <exception>
#include <utility>
#include <vector>

#include "runtime/failure.hpp"
#include "runtime/log.hpp"
#include "runtime/wait.hpp"
#include "storage/locks.hpp"

namespace tenon::storage {

namespace asio = boost::asio;

namespace {

// $1 buckets of one partition, $2 its first bucket and $3 the one after its last, $4 age in
// seconds, $5 rows at most, $6 and $7 the job's lock. All projects: nothing is shown to anybody.
// The instant is a subquery so that it is computed once and can be an index condition. Index:
// claims_created_at of the partition, then its primary key.
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

// The same parameters. Index: tombstones_created_at of the partition, then its primary key.
constexpr postgres::Statement delete_old_tombstones{R"(
    WITH turn AS MATERIALIZED (
        SELECT pg_try_advisory_xact_lock($6::integer, $7::integer) AS ours
    ), old AS (
        SELECT bucket, id
        FROM tenon.tombstones
        WHERE bucket >= $2 AND bucket < $3
          AND bucket = ANY ($1::integer[])
          AND created_at < (SELECT clock_timestamp() - $4::bigint * interval '1 second')
          AND (SELECT ours FROM turn)
        ORDER BY created_at
        LIMIT $5::integer)
    DELETE FROM tenon.tombstones AS tombstone
    USING old
    WHERE tombstone.bucket >= $2 AND tombstone.bucket < $3
      AND tombstone.bucket = old.bucket
      AND tombstone.id = old.id)"};

}  // namespace

asio::awaitable<ClaimsReaper::Reaped> ClaimsReaper::reap(runtime::Call& call) {
    Reaped reaped;
    for (const auto& part : partitions_of(database_.map())) {
        try {
            reaped.claims += co_await delete_old(call, part, delete_old_claims, options_.retention);
            reaped.tombstones += co_await delete_old(
                call, part, delete_old_tombstones, options_.retention + options_.tombstones_beyond);
        } catch (const runtime::Unavailable& away) {
            // The buckets are on the move, or their node is away; the others have their turn.
            runtime::log(runtime::Level::debug, call, "claims wait for their node",
                         {{"part", part.first}, {"why", away.what()}});
        }
    }
    co_return reaped;
}

asio::awaitable<std::size_t> ClaimsReaper::delete_old(runtime::Call& call, const Partition& part,
                                                      postgres::Statement statement,
                                                      std::chrono::seconds age) {
    const auto seconds = std::int64_t{age.count()};
    std::size_t deleted = 0;
    for (std::size_t affected = 0;; deleted += affected) {
        auto parameters =
            postgres::Parameters::of(part.buckets, part.first, part.end, seconds,
                                     options_.batch_max, job_lock_class, reap_claims_lock);
        std::vector<postgres::Query> queries;
        queries.push_back({.statement = statement, .parameters = std::move(parameters)});
        const auto results = co_await database_.write(call, part.buckets, std::move(queries));
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
            const auto reaped = co_await reap(call);
            if (reaped.claims + reaped.tombstones > 0) {
                runtime::log(runtime::Level::info, call, "deleted old idempotency claims",
                             {{"claims", reaped.claims}, {"tombstones", reaped.tombstones}});
            }
        } catch (const runtime::Failure& failure) {
            runtime::log(runtime::Level::warning, call, "a round of deleting old claims failed",
                         {{"why", failure.what()}});
        }
    }
}

}  // namespace tenon::storage
