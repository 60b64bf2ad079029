// Idempotency: claim, act and record in one transaction.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.hpp"
#include "base/result.hpp"
#include "base/slot.hpp"
#include "postgres/parameters.hpp"
#include "runtime/call.hpp"
#include "storage/database.hpp"

namespace tenon::storage {

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

/// One claim to be written, for a store's own statement over tenon.claims (bucket, project, caller,
/// key, fingerprint, state, outcome, answer).
struct ClaimRow {
    base::Bucket bucket;
    base::Uuid project;
    std::string caller;
    std::string key;
    base::Digest fingerprint{};
    std::string answer;
};

/// Reads the claim of a key; nullopt when there is none. One round trip.
boost::asio::awaitable<std::optional<StoredClaim>> find_claim(runtime::Call& call,
                                                              Database& database,
                                                              base::Bucket bucket);

}  // namespace tenon::storage
