// Whether a node's lock table holds what its writers may lock at once.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.hpp"
#include "base/slot.hpp"
#include "postgres/pool.hpp"
#include "storage/session.hpp"

namespace tenon::storage {

/// The server's settings that make up its lock table.
struct LockTable {
    std::int64_t locks_per_transaction = 64;
    std::int64_t connections = 100;
    std::int64_t prepared_transactions = 0;

    /// How many locks all transactions together may hold.
    [[nodiscard]] std::int64_t size() const {
        return locks_per_transaction * (connections + prepared_transactions);
    }
};

/// Reads the settings. Needs no rights.
[[nodiscard]] LockTable read_lock_table(Session& session);

/// Judges whether `writers` transactions at once, each with a lock for every bucket of a space,
/// fit.
///
/// Shape:  pure. A process writes to a node over at most cores × (multiplexed + exclusive_max)
///         connections, each with one transaction at a time: sum it over the processes.
/// Errors: storage.lock_table_small; the detail says which max_locks_per_transaction is enough.
[[nodiscard]] base::Result<> check_lock_room(const LockTable& table, std::int64_t writers);

/// How many transactions one process may write at once to one node.
[[nodiscard]] inline std::int64_t writers_of(std::size_t cores, const postgres::PoolOptions& pool) {
    return static_cast<std::int64_t>(cores * (pool.multiplexed + pool.exclusive_max));
}

}  // namespace tenon::storage
