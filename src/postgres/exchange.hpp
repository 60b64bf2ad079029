// Statements of one caller between two syncs, and where their results arrive.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <exception>
#include <vector>

#include "postgres/query.hpp"
#include "postgres/rows.hpp"
#include "runtime/call.hpp"
#include "runtime/span.hpp"
#include "runtime/wait_list.hpp"

namespace tenon::postgres {

/// One implicit transaction (or, within BEGIN, a step of an explicit one) on its way.
///
/// Owns:    its queries and results. Shared by the caller, who may leave, and the connection.
/// Threads: its core only.
class Exchange {
public:
    struct Rules {
        bool writes = true;      ///< a lost connection leaves the outcome unknown
        bool repeatable = true;  ///< may be sent again when a plan is stale: no BEGIN around it
    };
    /// `callers` is where the caller waits; it outlives this. `span` ends when the answer is there,
    /// whether or not its caller still waits.
    Exchange(runtime::WaitList& callers, std::vector<Query> queries, Rules rules,
             runtime::Span span = {});
    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;
    ~Exchange();

    /// The results, in the order of the queries.
    ///
    /// Errors: what the connection reported; runtime::DeadlineExceeded, after which the results
    ///         are dropped when they come.
    boost::asio::awaitable<std::vector<Rows>> results(runtime::Deadline deadline);

    [[nodiscard]] const std::vector<Query>& queries() const { return queries_; }
    /// True when nobody waits for it any more.
    [[nodiscard]] bool is_abandoned() const { return abandoned_; }
    [[nodiscard]] bool is_done() const { return done_; }
    [[nodiscard]] bool has_failed() const { return failure_ != nullptr; }
    /// True when it failed or has one result per query, as it must at its sync.
    [[nodiscard]] bool is_complete() const {
        return has_failed() || results_.size() == queries_.size();
    }

    // For the connection.
    void add(Rows rows) { results_.push_back(std::move(rows)); }
    /// Keeps the first failure; what follows it is its consequence.
    void fail(std::exception_ptr failure);
    /// Notes that the failure was a plan that is no longer valid.
    void mark_stale() { stale_ = true; }
    /// True when it may be sent again, which it then counts.
    [[nodiscard]] bool begin_again();
    /// Ends it by the loss of the connection.
    void lose(bool sent, const std::string& why);
    /// Wakes the caller.
    void finish();

private:
    std::vector<Query> queries_;
    std::vector<Rows> results_;
    std::exception_ptr failure_;
    runtime::WaitList& callers_;
    runtime::Waiter* caller_ = nullptr;  ///< lies in the caller's frame
    Rules rules_;
    runtime::Span span_;
    std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
    int repeats_ = 0;
    bool stale_ = false;
    bool done_ = false;
    bool abandoned_ = false;
};

}  // namespace tenon::postgres
