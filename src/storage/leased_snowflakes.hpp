// Snowflake ids under the node number that a process's lease carries.
#pragma once

#include <variant>

#include "base/result.hpp"
#include "base/snowflake.hpp"
#include "storage/process_lease.hpp"

namespace tenon::storage {

/// The right to a node number, as the generator takes it.
///
/// Shape:  pure. The fence is the lease's token; the stretch is in the control database's time.
[[nodiscard]] base::NodeLease node_lease(const Lease& lease);

/// Makes snowflakes as long as this process's lease lives.
///
/// Shape:   ids of two processes are never alike, whatever their clocks say, since the stretches of
///          one number follow one another in the control database's time: a clock that differs
///          from it is refused, or waits, at the ends of a stretch.
/// Owns:    its generator; `lease` and `clock` outlive it.
/// Threads: the core of the lease.
class LeasedSnowflakes {
public:
    LeasedSnowflakes(const ProcessLease& lease, const base::Clock& clock)
        : lease_(lease), generator_(clock) {}

    /// The next id, greater than every one before it, or how long to wait before asking again.
    ///
    /// Errors: base.no_lease while the process has no live lease; base.clock_unusable. Safe to
    ///         repeat, see SnowflakeGenerator::next.
    [[nodiscard]] base::Result<std::variant<base::Snowflake, base::SnowflakeWait>> next();

private:
    const ProcessLease& lease_;
    base::SnowflakeGenerator generator_;
};

}  // namespace tenon::storage
