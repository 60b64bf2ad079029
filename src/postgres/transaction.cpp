#include <boost/asio/use_awaitable.hpp>

#include "postgres/pool.hpp"
#include "postgres/pool_state.hpp"
#include "postgres/spans.hpp"
#include "runtime/failure.hpp"

namespace tenon::postgres {

namespace asio = boost::asio;

struct Transaction::State {
    /// Where it stands. Until something was asked, nothing was sent either.
    enum class Stage : std::uint8_t { fresh, open, running, over };

    State(std::shared_ptr<Pool::State> of, std::shared_ptr<Connection> on)
        : pool(std::move(of)), connection(std::move(on)) {}
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    ~State();

    /// Sends the statements as one exchange and waits for their results.
    asio::awaitable<std::vector<Rows>> run(const runtime::Call& call, std::vector<Query> queries,
                                           bool writes);
    void give_back();

    std::shared_ptr<Pool::State> pool;
    std::shared_ptr<Connection> connection;
    Stage stage = Stage::fresh;
};

Transaction::State::~State() {
    switch (stage) {
        case Stage::over:
            return;
        case Stage::fresh:
            give_back();
            return;
        case Stage::open:
            pool->exclusives->recover(std::move(connection));
            return;
        case Stage::running:  // the loop ended under a statement
            connection->lose("a transaction was given up");
    }
}

asio::awaitable<std::vector<Rows>> Transaction::State::run(const runtime::Call& call,
                                                           std::vector<Query> queries,
                                                           bool writes) {
    auto span = begin_span(call, queries);
    const auto exchange = std::make_shared<Exchange>(
        pool->callers, std::move(queries), Exchange::Rules{writes, false}, std::move(span));
    connection->submit(exchange);
    stage = Stage::running;
    try {
        std::vector<Rows> results = co_await exchange->results(call.deadline);
        stage = Stage::open;
        co_return results;
    } catch (...) {
        if (exchange->is_done()) {
            stage = connection->is_lost() ? Stage::over : Stage::open;
        } else {
            // Past the deadline, or this coroutine was cancelled: the server is told now.
            stage = Stage::over;
            pool->exclusives->interrupt(std::move(connection), exchange, !writes);
        }
        throw;
    }
}

void Transaction::State::give_back() {
    stage = Stage::over;
    pool->exclusives->release(std::move(connection));
}

Transaction::Transaction() = default;
Transaction::Transaction(std::unique_ptr<State> state) : state_(std::move(state)) {}
Transaction::Transaction(Transaction&&) noexcept = default;
Transaction& Transaction::operator=(Transaction&&) noexcept = default;
Transaction::~Transaction() = default;

namespace {

Query begin_query() {
    return {{"BEGIN ISOLATION LEVEL READ COMMITTED"}, {}, false};
}

QueryFailed rolled_back_instead() {
    return QueryFailed({.sqlstate = "25P02",
                        .message = "the transaction had failed before, so COMMIT rolled it back",
                        .detail = {},
                        .hint = {},
                        .constraint = {},
                        .statement = "COMMIT"});
}

}  // namespace

Transaction::State& Transaction::usable() {
    if (!state_ || (state_->stage != State::Stage::fresh && state_->stage != State::Stage::open)) {
        throw std::logic_error("a transaction was used after it ended or was given up");
    }
    return *state_;
}

asio::awaitable<Rows> Transaction::query(runtime::Call& call, Query query) {
    State& state = usable();
    std::vector<Query> queries;
    // BEGIN travels with the first statement: no round trip of its own.
    if (state.stage == State::Stage::fresh) queries.push_back(begin_query());
    queries.push_back(std::move(query));
    std::vector<Rows> results = co_await state.run(call, std::move(queries), false);
    co_return std::move(results.back());
}

asio::awaitable<void> Transaction::commit(runtime::Call& call) {
    State& state = usable();
    if (state.stage == State::Stage::fresh) {
        state.give_back();
        co_return;
    }
    std::vector<Query> queries(1, Query{{"COMMIT"}, {}, true});
    std::vector<Rows> results;
    try {
        results = co_await state.run(call, std::move(queries), true);
    } catch (const runtime::DeadlineExceeded&) {
        throw runtime::OutcomeUnknown("COMMIT was sent to PostgreSQL and the deadline passed");
    }
    const bool committed = results.front().command() == "COMMIT";
    state.give_back();
    if (!committed) throw rolled_back_instead();
}

asio::awaitable<void> Transaction::rollback(runtime::Call& call) {
    State& state = usable();
    if (state.stage == State::Stage::open) {
        std::vector<Query> queries(1, Query{{"ROLLBACK"}, {}, false});
        co_await state.run(call, std::move(queries), false);
    }
    state.give_back();
}

asio::awaitable<Transaction> Pool::begin(runtime::Call& call) {
    state_->refuse_when_closing();
    auto connection = co_await state_->exclusives->acquire(call);
    co_return Transaction(std::make_unique<Transaction::State>(state_, std::move(connection)));
}

}  // namespace tenon::postgres
