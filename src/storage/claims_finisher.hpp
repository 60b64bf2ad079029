// Ends pending claims that nobody is at any more and nobody repeats.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "storage/partitions.hpp"
#include "storage/pending_claims.hpp"

namespace tenon::storage {

/// What a service does about pending claims of one kind.
///
/// Threads: the finisher's core.
class PendingKind {
public:
    virtual ~PendingKind() = default;
    /// What the claim is settled with, when its effect is there or was made now; nullopt when it
    /// was undone, so that no late writer can make it (undo_effect), and the key is free again.
    ///
    /// Shape:  may run more than once, also beside a request that takes the claim over. So an
    ///         effect that is there is never removed: that request may have been answered with it.
    /// Errors: what it throws leaves the claim for a later round.
    virtual boost::asio::awaitable<std::optional<ClaimOutcome>> finish(runtime::Call& call,
                                                                       HeldClaim held) = 0;
};

/// Which claims are ended, and how many at a time.
struct FinishOptions {
    /// Only claims held for at least this long by a process that is dead by now.
    std::chrono::milliseconds age = std::chrono::minutes(1);
    /// Claims of one partition looked at in one round. 1 .. 10,000
    std::int32_t batch_max = 100;
    /// Pause between two rounds, with up to a tenth of it at random on top.
    std::chrono::milliseconds pause = std::chrono::minutes(1);
    /// How long a round may take; the next one goes on from where it ended.
    std::chrono::milliseconds round_limit = std::chrono::seconds(30);
    /// How long one claim may take, so that a provider which hangs holds up no other for long.
    std::chrono::milliseconds claim_limit = std::chrono::seconds(5);
};

/// The job that ends what crashes left.
///
/// Shape:   takes a claim as a repeat does, so that of several processes one ends it; claims of
///          kinds that nobody registered are left alone. Ages are the database's clock.
/// Threads: the database's core. One core of a process is enough.
class ClaimsFinisher {
public:
    ClaimsFinisher(Database& database, PendingClaims& claims, FinishOptions options = {})
        : database_(database), claims_(claims), options_(options) {}

    /// `service` ends the claims of this kind. Expects: before run(); it outlives the finisher.
    void add(const std::string& kind, PendingKind& service);

    /// One round; how many claims were settled or forgotten.
    ///
    /// Shape:  claims of a node that is away wait for a later round, as do those whose holder
    ///         cannot be asked about.
    /// Errors: those of Database::read, but Unavailable.
    boost::asio::awaitable<std::size_t> finish(runtime::Call& call);
    /// Rounds until cancelled; a failed one is logged and the next comes after the pause.
    boost::asio::awaitable<void> run();

private:
    boost::asio::awaitable<std::size_t> finish_part(runtime::Call& call, Partition part);
    boost::asio::awaitable<bool> finish_one(runtime::Call& call, HeldClaim seen);

    Database& database_;
    PendingClaims& claims_;
    const FinishOptions options_;
    std::map<std::string, PendingKind*> kinds_;
    std::size_t turn_ = 0;  ///< the partition that comes next, in the order of partitions_of
};

}  // namespace tenon::storage
