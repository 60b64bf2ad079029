// Deletes claims that no client will repeat any more.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "runtime/call.hpp"
#include "storage/database.hpp"
#include "storage/partitions.hpp"

namespace tenon::storage {

/// How long claims are kept and how gently they are deleted.
struct ReapOptions {
    /// How long a settled claim is kept; longer than any client repeats. At least a minute.
    std::chrono::seconds retention = std::chrono::hours(24);
    /// How much longer the tombstones of undone effects are kept: by then a process that stood
    /// still since before has been ended. At least an hour.
    std::chrono::seconds tombstones_beyond = std::chrono::hours(24 * 7);
    /// Rows deleted by one transaction; more of them hold their locks longer. 1 .. 100,000
    std::int32_t batch_max = 1'000;
    /// Pause between two rounds, with up to a tenth of it at random on top.
    std::chrono::milliseconds pause = std::chrono::minutes(1);
    /// How long a round may take; the next one goes on from where it ended.
    std::chrono::milliseconds round_limit = std::chrono::seconds(30);
};

/// The job behind the retention of Idempotency-Keys and of tombstones.
///
/// Shape:   on each node one process at a time (a try lock, so the others pass by). Pending claims
///          are never deleted here (F94). Ages are the database's clock_timestamp().
/// Threads: the database's core. One core of a process is enough.
class ClaimsReaper {
public:
    ClaimsReaper(Database& database, ReapOptions options)
        : database_(database), options_(options) {}

    /// What a round deleted.
    struct Reaped {
        std::size_t claims = 0;
        std::size_t tombstones = 0;
    };

    /// One round: deletes until nothing old is left or the call's deadline is near.
    ///
    /// Shape:  64 buckets at a time, behind the fence; those of a node that is away, or of a part
    ///         with a bucket on the move, wait for a later round.
    /// Errors: those of Database::write, but Unavailable.
    boost::asio::awaitable<Reaped> reap(runtime::Call& call);
    /// Rounds until cancelled; a failed one is logged and the next comes after the pause.
    boost::asio::awaitable<void> run();

private:
    boost::asio::awaitable<std::size_t> delete_old(runtime::Call& call, const Partition& part,
                                                   postgres::Statement statement,
                                                   std::chrono::seconds age);

    Database& database_;
    ReapOptions options_;
};

}  // namespace tenon::storage
