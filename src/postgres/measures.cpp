#include "postgres/measures.hpp"

namespace tenon::postgres {

namespace {

Measures registered() {
    runtime::Metrics& all = runtime::metrics();
    return {.exchange_seconds = all.durations(
                {.name = "tenon_postgres_exchange_seconds",
                 .help = "From a question to PostgreSQL to its answer, waiting included."}),
            .in_flight = all.up_down({.name = "tenon_postgres_in_flight",
                                      .help = "Questions to PostgreSQL that wait or travel."}),
            .connections = all.up_down({.name = "tenon_postgres_connections",
                                        .help = "Connections to PostgreSQL that are up."}),
            .lost = all.counter({.name = "tenon_postgres_connections_lost_total",
                                 .help = "Connections to PostgreSQL that ended by themselves."}),
            .stale = all.counter({.name = "tenon_postgres_stale_plans_total",
                                  .help = "Questions asked again, since a plan had become stale."}),
            .late = all.counter({.name = "tenon_postgres_deadlines_total",
                                 .help = "Callers that left before PostgreSQL had answered."})};
}

}  // namespace

const Measures& measures() {
    static const Measures all = registered();
    return all;
}

}  // namespace tenon::postgres
