// What this room counts.
#pragma once

#include "runtime/metrics.hpp"

namespace tenon::postgres {

/// The process's metrics of PostgreSQL, of all cores and nodes together.
struct Measures {
    runtime::Histogram exchange_seconds;  ///< from a caller's question to its answer
    runtime::UpDown in_flight;            ///< exchanges that wait or travel
    runtime::UpDown connections;          ///< pipelines that are up
    runtime::Counter lost;                ///< connections that ended by themselves
    runtime::Counter stale;               ///< exchanges sent again, since a plan had become stale
    runtime::Counter late;                ///< callers that left at their deadline
};

/// Registered at first use.
[[nodiscard]] const Measures& measures();

}  // namespace tenon::postgres
