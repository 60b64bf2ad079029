// One connection in pipeline mode: many callers' exchanges, matched to their results by order.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "postgres/exchange.hpp"
#include "postgres/link.hpp"
#include "postgres/statements.hpp"

namespace tenon::postgres {

/// A pipeline to one backend of PostgreSQL.
///
/// Shape:   every exchange ends with a sync of its own, so its error is its own. Statements are
///          prepared at first use in the same pipeline, and again when their plan became stale.
/// Threads: its core only.
/// Cost:    what callers submit within one turn of the loop is written together.
/// Source:  libpq, chapter "Pipeline Mode"; F75.
class Connection {
public:
    /// `patience` is how long it may owe an answer without any coming before it is given up: its
    /// server is frozen, or what came was not what was sent. Zero: for ever.
    ///
    /// Expects: `statements` outlives it. Throws runtime::Unavailable when the link is lost.
    Connection(boost::asio::io_context& io, Link link, Statements& statements,
               std::chrono::milliseconds patience);
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;
    ~Connection();

    /// Reads and writes until the connection is lost or this coroutine is cancelled; then every
    /// exchange has heard of it. Run it once, from the connection's birth to its end.
    boost::asio::awaitable<void> run();
    /// Queues an exchange for this turn of the loop. After a loss it fails at once.
    void submit(std::shared_ptr<Exchange> exchange);
    /// Ends the connection; `why` is what the callers hear.
    void lose(const std::string& why);

    /// What asks the server to end the statement that runs now; null after a loss.
    [[nodiscard]] std::shared_ptr<PGcancel> cancel_request() const;

    /// Ends it when its server was replaced as primary meanwhile: what it still acknowledged would
    /// be lost. Asked before it is used. True when it is lost by now.
    bool lose_if_replaced();
    [[nodiscard]] bool is_lost() const { return lost_; }
    /// Empty while it is not lost.
    [[nodiscard]] const std::string& why_lost() const { return why_lost_; }
    /// Exchanges submitted and not finished.
    [[nodiscard]] std::size_t load() const { return sent_.size() + fresh_.size(); }

private:
    /// What libpq's next results belong to.
    struct Step {
        enum class Kind : std::uint8_t { prepare, execute, sync } kind;
        std::uint32_t statement;
        std::uint32_t generation;
        Exchange* exchange;  ///< kept alive by sent_
        const char* sql;
    };
    /// What this backend has under a statement's number.
    struct Prepared {
        std::uint32_t generation = 0;  ///< part of the name: a stale plan's name is not used again
        bool ready = false;            ///< prepared, or on its way there
    };

    boost::asio::awaitable<void> read_loop();
    boost::asio::awaitable<void> write_loop();
    boost::asio::awaitable<void> watch();
    boost::asio::awaitable<void> wait_for_work();
    void write_some();
    void write(const std::shared_ptr<Exchange>& exchange);
    bool write_query(Exchange& exchange, const Query& query);
    bool prepare(Exchange& exchange, const Query& query, std::uint32_t number);
    void deliver();
    void take(PGresult* result);
    void take_error(Step& step, PGresult* result);
    void take_sync();
    void forget(const Step& step);
    static void remember_farewell(void* self, const PGresult* notice);

    boost::asio::io_context& io_;
    Link link_;
    Statements& statements_;
    std::vector<Prepared> prepared_;               ///< by statement number
    std::deque<std::shared_ptr<Exchange>> fresh_;  ///< not yet given to libpq
    std::deque<std::shared_ptr<Exchange>> sent_;   ///< given to libpq, sync not yet back
    std::deque<Step> expected_;
    boost::asio::steady_timer work_;  ///< never expires; cancelled when fresh_ grows
    boost::asio::steady_timer overdue_;
    const std::chrono::milliseconds patience_;
    std::chrono::steady_clock::time_point answered_;  ///< when a result came, or had to begin to
    std::string farewell_;                            ///< why the server said it ends
    std::string why_lost_;
    bool lost_ = false;
    std::vector<const char*> values_;  ///< scratch for libpq's parallel arrays
    std::vector<int> lengths_;
    std::vector<int> formats_;
};

}  // namespace tenon::postgres
