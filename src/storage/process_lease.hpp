// That this process is alive, said in the control database and known here.
#pragma once

#include <atomic>
#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

#include "base/clock.hpp"
#include "base/uuid.hpp"
#include "runtime/call.hpp"
#include "storage/database.hpp"

namespace tenon::storage {

/// A lease as its holder may rely on it.
struct Lease {
    std::int64_t token = 0;  ///< rises with every lease of any process: the fencing token
    std::int32_t number =
        0;  ///< 0 .. 1023, nobody else's while this lease lives: for Snowflake ids
    runtime::Deadline until;  ///< on this machine's clock, counted from before it was asked for
    /// The number's stretch by the control database's clock: from where its last one ended, or
    /// later, to the end of the lease.
    base::Time from{};
    base::Time ends{};
};

/// How long a lease lives and how often it is renewed.
struct LeaseOptions {
    std::chrono::milliseconds ttl{30'000};  ///< the same for all processes
    std::chrono::milliseconds renew_every{10'000};
    /// A number is given to another only so long after its lease ended, so that a holder whose
    /// clock runs slow has stopped using it.
    std::chrono::milliseconds grace{60'000};
};

/// Keeps one lease for as long as the control database can be asked.
///
/// Shape:   with it away the lease runs out, and current() says so; when it is back, a lease that
///          nobody took is renewed, else a new one is taken.
/// Threads: its core only.
/// Errors:  run() throws nothing of the control database's: it is asked again.
class ProcessLease {
public:
    ProcessLease(Database& database, base::Uuid process, LeaseOptions options = {});

    /// Renews until it is cancelled.
    boost::asio::awaitable<void> run();
    /// Takes or renews the lease once. Errors: those of Database::ask_control; Unavailable when all
    /// 1,024 numbers are taken.
    boost::asio::awaitable<void> renew(runtime::Call& call);
    /// Gives the lease back, so that others need not wait for its end.
    boost::asio::awaitable<void> give_back(runtime::Call& call);

    /// The lease, while it lives.
    [[nodiscard]] std::optional<Lease> current() const;
    /// The token of the lease held last, ended or not; 0 before the first and after giving back.
    /// What is held under it says whose it is: whoever asks, asks the control database.
    ///
    /// Threads: any.
    [[nodiscard]] std::int64_t token() const { return token_.load(std::memory_order_relaxed); }

private:
    Database& database_;
    const base::Uuid process_;
    const LeaseOptions options_;
    std::optional<Lease> lease_;
    std::atomic<std::int64_t> token_ = 0;
};

/// True when that process's lease has ended by the control database's clock, or was given back.
///
/// Errors: those of Database::ask_control; "I could not ask" never means dead.
boost::asio::awaitable<bool> is_dead(runtime::Call& call, Database& database, std::int64_t token);

}  // namespace tenon::storage
