// What a pool and its transactions share.
#pragma once

#include <memory>
#include <vector>

#include "postgres/exclusives.hpp"
#include "postgres/line.hpp"
#include "postgres/pool.hpp"
#include "runtime/task_group.hpp"

namespace tenon::postgres {

/// Connections of one core to one server.
///
/// Owns: everything; a transaction that outlives its pool keeps this, but its connection is lost.
struct Pool::State {
    State(runtime::Core& of, PoolOptions with);

    /// Sends an exchange on the line with the least to do.
    ///
    /// Errors: runtime::Unavailable when no line is up, the bound is reached or the pool closes.
    boost::asio::awaitable<std::vector<Rows>> run(runtime::Call& call, std::vector<Query> queries);
    /// nullptr when all are down.
    [[nodiscard]] Line* least_loaded();
    [[nodiscard]] std::size_t load() const;
    [[nodiscard]] std::string why_down();
    void refuse_when_closing() const;
    /// Waits for what is in flight, at most until the deadline.
    boost::asio::awaitable<void> drain(runtime::Deadline deadline);

    runtime::Core& core;
    PoolOptions options;
    Startup startup;
    Statements statements;
    runtime::WaitList callers;
    std::vector<std::unique_ptr<Line>> lines;
    std::unique_ptr<Exclusives> exclusives;
    bool closing = false;
    runtime::TaskGroup tasks;  ///< last: ends before what its coroutines use
};

}  // namespace tenon::postgres
