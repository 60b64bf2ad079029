#include "storage/claims.hpp"

#include <chrono>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

#include "storage/errors.hpp"

namespace tenon::storage {

namespace {

// One look-up per key in the partition of its bucket; OFFSET 0 keeps it from becoming a join over
// all partitions. Index: the primary key of each partition.
constexpr postgres::Statement select_claims{R"(
    SELECT wanted.place::integer, claim.fingerprint, claim.state, claim.outcome, claim.answer
    FROM unnest($1::integer[], $2::uuid[], $3::text[], $4::text[])
         WITH ORDINALITY AS wanted (bucket, project, caller, key, place)
    CROSS JOIN LATERAL (
        SELECT fingerprint, state, outcome, answer
        FROM tenon.claims
        WHERE bucket = wanted.bucket
          AND project = wanted.project
          AND caller = wanted.caller
          AND key = wanted.key
        OFFSET 0) AS claim)"};

constexpr std::int16_t state_pending = 1;

StoredClaim read_claim(const postgres::Rows& rows, std::size_t row) {
    return {.fingerprint = rows.value<base::Digest>(row, 1),
            .pending = rows.value<std::int16_t>(row, 2) == state_pending,
            .outcome = rows.value<std::string>(row, 3),
            .answer = rows.value<std::string>(row, 4)};
}

// The claims of one node.
postgres::Query select_some(const std::vector<ClaimKey>& keys,
                            std::span<const std::size_t> places) {
    std::vector<base::Bucket> buckets;
    std::vector<base::Uuid> projects;
    std::vector<std::string_view> callers;
    std::vector<std::string_view> names;
    for (const std::size_t place : places) {
        const ClaimKey& key = keys[place];
        buckets.push_back(key.bucket);
        projects.push_back(key.project);
        callers.emplace_back(key.caller);
        names.emplace_back(key.key);
    }
    return {.statement = select_claims,
            .parameters = postgres::Parameters::of(buckets, projects, callers, names),
            .writes = false};
}

}  // namespace

base::Result<StoredClaim> decide_repeat(const StoredClaim& stored,
                                        const base::Digest& fingerprint) {
    if (stored.fingerprint != fingerprint) {
        return base::fail(errors::claim_mismatch,
                          "This Idempotency-Key was first sent with another method, path or body. "
                          "Send the same request, or a new key for a new one.");
    }
    if (stored.pending) {
        base::Error running(errors::claim_running,
                            "The first request with this Idempotency-Key has not ended. Repeat "
                            "the same request later to get its answer.");
        running.repeat_after(std::chrono::seconds(1));
        return base::fail(std::move(running));
    }
    return stored;
}

ClaimColumns columns_of(std::span<const ClaimRow> rows) {
    ClaimColumns columns;
    for (const ClaimRow& row : rows) {
        columns.buckets.push_back(row.bucket);
        columns.projects.push_back(row.project);
        columns.callers.push_back(row.caller);
        columns.keys.push_back(row.key);
        columns.fingerprints.push_back(row.fingerprint);
        columns.answers.push_back(row.answer);
    }
    return columns;
}

boost::asio::awaitable<std::optional<StoredClaim>> find_claim(runtime::Call& call,
                                                              Database& database, ClaimKey key) {
    std::vector<ClaimKey> keys;
    keys.push_back(std::move(key));
    auto found = co_await find_claims(call, database, std::move(keys));
    co_return std::move(found.front());
}

boost::asio::awaitable<std::vector<std::optional<StoredClaim>>> find_claims(
    runtime::Call& call, Database& database, std::vector<ClaimKey> keys) {
    std::vector<std::optional<StoredClaim>> found(keys.size());
    std::vector<base::Bucket> buckets;
    buckets.reserve(keys.size());
    for (const ClaimKey& key : keys) buckets.push_back(key.bucket);
    const auto parts = co_await database.each(
        call, std::move(buckets), Policy::primary,
        [&keys](std::span<const std::size_t> places) { return select_some(keys, places); });
    for (const KeysPart& part : parts) {
        for (std::size_t row = 0; row < part.rows.size(); ++row) {
            const auto place = static_cast<std::size_t>(part.rows.value<std::int32_t>(row, 0) - 1);
            found[part.keys[place]] = read_claim(part.rows, row);
        }
    }
    co_return found;
}

}  // namespace tenon::storage
