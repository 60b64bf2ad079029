// Idempotency: claim, act and record in one transaction.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/hash.hpp"
#include "base/result.hpp"
#include "base/slot.hpp"
#include "base/uuid.hpp"
#include "runtime/call.hpp"
#include "storage/database.hpp"

namespace tenon::storage {

/// What names a claim: the primary key of tenon.claims.
struct ClaimKey {
    base::Bucket bucket;
    base::Uuid project;
    std::string caller;  ///< subject of an end-user token; empty for API keys
    std::string key;     ///< the client's Idempotency-Key
    auto operator<=>(const ClaimKey&) const = default;
};

/// What the claims table holds for one key.
struct StoredClaim {
    base::Digest fingerprint{};
    bool pending = false;
    std::string outcome;  ///< empty: success; else the slug of the domain error
    std::string answer;   ///< the output struct or the error's detail, JSON
};

/// Decides what a repeat of a claimed key gets.
///
/// Shape:  pure. The stored claim when the fingerprint is the same and it is settled.
/// Errors: storage.claim_mismatch (422: another body), storage.claim_running (409, retry after).
[[nodiscard]] base::Result<StoredClaim> decide_repeat(const StoredClaim& stored,
                                                      const base::Digest& fingerprint);

/// One claim to be written, settled, for a store's own statement over tenon.claims (bucket,
/// project, caller, key, fingerprint, state, outcome, answer).
struct ClaimRow {
    base::Bucket bucket;
    base::Uuid project;
    std::string caller;
    std::string key;
    base::Digest fingerprint{};
    std::string answer;
};

/// Claims as arrays, for `unnest` in a store's statement:
///
///     WITH claimed AS (
///         INSERT INTO tenon.claims (bucket, project, caller, key, fingerprint, state, outcome,
///                                   answer)
///         SELECT bucket, project, caller, key, fingerprint, 0, '', answer
///         FROM unnest($1::integer[], $2::uuid[], $3::text[], $4::text[], $5::bytea[], $6::text[])
///              AS wanted (bucket, project, caller, key, fingerprint, answer)
///         ORDER BY bucket, project, caller, key
///         ON CONFLICT DO NOTHING
///         RETURNING bucket, project, caller, key)
///
/// Of equal keys, in this batch or in another transaction, one is returned: the winner. Losers are
/// read again by find_claims. The order keeps two batches from waiting for each other crosswise.
struct ClaimColumns {
    std::vector<base::Bucket> buckets;
    std::vector<base::Uuid> projects;
    std::vector<std::string> callers;
    std::vector<std::string> keys;
    std::vector<base::Digest> fingerprints;
    std::vector<std::string> answers;
};
/// The same rows, in their order, as columns.
[[nodiscard]] ClaimColumns columns_of(std::span<const ClaimRow> rows);

/// Reads the claim of a key; nullopt when there is none, which after a lost INSERT means that it
/// was swept between the two: claim anew (F94). One round trip.
///
/// Errors: those of Database::read; an error here is never "not seen".
boost::asio::awaitable<std::optional<StoredClaim>> find_claim(runtime::Call& call,
                                                              Database& database, ClaimKey key);

/// The same for many keys, in their order. One round trip per node that owns some of them.
boost::asio::awaitable<std::vector<std::optional<StoredClaim>>> find_claims(
    runtime::Call& call, Database& database, std::vector<ClaimKey> keys);

}  // namespace tenon::storage
