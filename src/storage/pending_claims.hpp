// Idempotency where the effect lies elsewhere: claim, then act, then record.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "storage/decide_pending.hpp"
#include "storage/process_lease.hpp"

namespace tenon::storage {

/// What a claim is settled with.
struct ClaimOutcome {
    std::string outcome;  ///< empty: success; else the slug of the domain error
    std::string answer;   ///< the output struct or the error's detail, JSON
};

/// What a request asks a pending claim for.
struct PendingRequest {
    base::Bucket bucket;  ///< of the claim; the effect's is the service's to say
    std::string kind;     ///< such as "chat.invite"; see ClaimsFinisher
    std::string drawn;    ///< the effect's ids, at most 8 KiB; a repeat gets those drawn first
};

/// A pending claim as the one who holds it has it.
struct HeldClaim {
    ClaimKey key;
    Hold hold;
};

/// How claims are held.
struct PendingOptions {
    /// A hold older than this is nobody's, whoever's it is. Longer than any request runs.
    std::chrono::milliseconds hold_max = std::chrono::minutes(10);
    /// How long giving a hold up may take, after what failed has failed.
    std::chrono::milliseconds give_up_limit{2'000};
};

/// Runs effects that lie elsewhere once per key.
///
/// Shape:   the transaction of an effect begins with guard_effect() and inserts rows under the ids
///          in `drawn`; a conflict with a row of such an id is success. Several processes may be
///          at one claim; they make the same effect, and the one that settles first is answered.
/// Threads: the database's core.
/// Source:  docs/adr/0012.
class PendingClaims {
public:
    using Act =
        std::function<boost::asio::awaitable<ClaimOutcome>(runtime::Call&, const HeldClaim&)>;

    PendingClaims(Database& database, const ProcessLease& lease, PendingOptions options = {})
        : database_(database), lease_(lease), options_(options) {}

    /// Claims the call's key, calls `act`, and records what it gave; or gives what was recorded
    /// (claim->replayed is set then).
    ///
    /// Expects: call.claim. `act` makes the effect from the ids in the HeldClaim alone.
    /// Cost:    two round trips to the claim's node beside the effect's; a repeat one more, and
    ///          one to the control database when another process holds the claim.
    /// Cancel:  what `act` throws gives the claim up, so that a repeat goes on at once, as does a
    ///          deadline or a lost connection while claiming. When it is cancelled itself, its
    ///          process ends, and with it the lease by which the claim is held.
    /// Errors:  storage.claim_mismatch, storage.claim_running (also when the effect was undone
    ///          before it happened); those of `act` and of Database, where "I could not look" is an
    ///          exception, never "not seen"; Unavailable before this process had its first lease.
    boost::asio::awaitable<base::Result<ClaimOutcome>> run(runtime::Call& call,
                                                           PendingRequest request, Act act);

    /// The steps of run(), for the finisher and for tests that stop between them.
    ///
    /// Shape:   `wanted` is what the claim would be; the HeldClaim given back may be an older one
    ///          with its own ids.
    /// Expects: call.claim.
    boost::asio::awaitable<base::Result<std::variant<HeldClaim, StoredClaim>>> begin(
        runtime::Call& call, HeldClaim wanted);
    /// Takes the claim from the hold that was seen; nullopt when that is no longer its hold. `hold`
    /// is the new one's id: whoever drew it can give it up when the outcome is not known.
    boost::asio::awaitable<std::optional<HeldClaim>> take_over(runtime::Call& call, HeldClaim seen,
                                                               base::Uuid hold);
    /// Records the answer. False when the claim is no longer held so.
    boost::asio::awaitable<bool> settle(runtime::Call& call, const HeldClaim& held,
                                        ClaimOutcome outcome);
    /// Ends the claim as if it had never been; its ids must be undone before. False as settle().
    boost::asio::awaitable<bool> forget(runtime::Call& call, const HeldClaim& held);
    /// Leaves the claim to whoever repeats it next. A failure is logged: its age does the same.
    boost::asio::awaitable<void> give_up(HeldClaim held);
    /// The same where it is not known whether the claim is held so, or will be.
    boost::asio::awaitable<void> give_up_unseen(HeldClaim wanted, base::Digest fingerprint);
    /// Whether a hold's process may still be at it; alive when that cannot be asked.
    boost::asio::awaitable<Holder> judge(runtime::Call& call, Hold hold);

    /// What `request` would claim for the call, under a hold of its own.
    ///
    /// Errors: Unavailable before this process had its first lease.
    [[nodiscard]] HeldClaim want(const runtime::Call& call, PendingRequest request) const;

private:
    boost::asio::awaitable<bool> claim(runtime::Call& call, const HeldClaim& wanted);
    boost::asio::awaitable<base::Result<ClaimOutcome>> act_and_settle(runtime::Call& call,
                                                                      HeldClaim held, Act act);
    boost::asio::awaitable<void> give_up_by(HeldClaim held, std::vector<postgres::Query> queries);
    boost::asio::awaitable<void> forget_undone(runtime::Call& call, const HeldClaim& held);
    boost::asio::awaitable<base::Result<ClaimOutcome>> answer_late(runtime::Call& call,
                                                                   const HeldClaim& held);

    Database& database_;
    const ProcessLease& lease_;
    const PendingOptions options_;
};

/// Reads a claim with its hold; nullopt when there is none. One round trip.
///
/// Errors: those of Database::read.
boost::asio::awaitable<std::optional<SeenClaim>> find_pending(runtime::Call& call,
                                                              Database& database, ClaimKey key);

/// The first statement of an effect's transaction: fails it when an id was undone.
[[nodiscard]] postgres::Query guard_effect(base::Bucket bucket, std::span<const base::Uuid> ids);
/// Writes tombstones. The same transaction then looks whether the effect is there, and rolls back
/// if so: what happened stays, and the claim is settled with it.
[[nodiscard]] postgres::Query undo_effect(base::Bucket bucket, std::span<const base::Uuid> ids);
/// True for what guard_effect() throws.
[[nodiscard]] bool is_undone(const std::exception_ptr& failure);

}  // namespace tenon::storage
