// What a repeat does when it meets a claim that may be pending.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/hash.hpp"
#include "base/result.hpp"
#include "base/uuid.hpp"
#include "storage/claims.hpp"

namespace tenon::storage {

/// Who is at a pending claim, and with what.
struct Hold {
    base::Uuid id;                     ///< drawn anew by each who takes the claim
    std::int64_t holder = 0;           ///< token of its process's lease; 0: given up
    std::string kind;                  ///< which service can finish the claim
    std::string drawn;                 ///< the ids of its effect, as that service wrote them
    std::chrono::milliseconds age{0};  ///< since it was taken, by the database's clock
};

/// A claim as it was found, with its hold while it is pending.
struct SeenClaim {
    StoredClaim claim;
    std::optional<Hold> hold;
};

/// Whether the process of a hold may still be at it. One that could not be asked about is alive.
enum class Holder : std::uint8_t { alive, dead };

/// What can be said about a holder without asking the control database; nullopt: ask.
///
/// Shape:   pure. Given up is dead; so is a hold older than `hold_max`, whose request has ended by
///          its deadline and could not say so. A hold of the asking process itself is alive.
/// Expects: `hold_max` is longer than any request runs.
[[nodiscard]] std::optional<Holder> judge_holder(const Hold& hold, std::int64_t own_token,
                                                 std::chrono::milliseconds hold_max);

/// How a repeat goes on.
enum class RepeatStep : std::uint8_t {
    replay,     ///< give the stored answer
    take_over,  ///< take the claim, if its hold is still the one seen, and act with the same ids
};

/// Decides what a repeat of a claimed key does.
///
/// Shape:  pure. A wrong `holder` costs a wait or a second try of the same ids, never a second
///         effect: taking over compares the hold, and effects carry the ids drawn.
/// Errors: storage.claim_mismatch (422), storage.claim_running (409, retry after).
[[nodiscard]] base::Result<RepeatStep> decide_pending(const SeenClaim& seen,
                                                      const base::Digest& fingerprint,
                                                      Holder holder);

}  // namespace tenon::storage
