#include "postgres/pool.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.hpp"
#include "postgres/pool_state.hpp"
#include "postgres/script.hpp"
#include "postgres/spans.hpp"
#include "runtime/failure.hpp"
#include "runtime/log.hpp"

namespace tenon::postgres {

namespace asio = boost::asio;

namespace {

constexpr std::size_t values_max = 65'535;  // the protocol counts them in 16 bits

SessionLimits limits_of(const PoolOptions& options) {
    return {.statement = options.statement_timeout,
            .lock = options.lock_timeout,
            .idle_in_transaction = options.idle_in_transaction_timeout,
            .answer_grace = options.answer_grace};
}

void check(const std::vector<Query>& queries) {
    for (const Query& query : queries) {
        if (query.parameters.size() > values_max) {
            throw std::logic_error(
                fmt::format("a statement has {} values, more than {}: pass arrays",
                            query.parameters.size(), values_max));
        }
    }
}

}  // namespace

Pool::State::State(runtime::Core& of, PoolOptions with)
    : core(of),
      options(std::move(with)),
      startup(options.conninfo, limits_of(options),
              options.timelines ? options.timelines->of(options.conninfo) : nullptr),
      callers(of.io()),
      tasks(of.io()) {
    TENON_ASSERT(options.multiplexed >= 1);
    for (std::size_t i = 0; i < options.multiplexed; ++i) {
        lines.push_back(std::make_unique<Line>(core, startup, statements, options.connect_timeout));
    }
    exclusives =
        std::make_unique<Exclusives>(core, startup, statements, callers, tasks,
                                     Exclusives::Bounds{.connections_max = options.exclusive_max,
                                                        .waiting_max = options.waiting_max,
                                                        .connect_timeout = options.connect_timeout,
                                                        .blocking = options.blocking});
    for (const auto& line : lines) tasks.spawn("postgres connection", line->keep_up());
}

asio::awaitable<std::vector<Rows>> Pool::State::run(runtime::Call& call,
                                                    std::vector<Query> queries) {
    check(queries);
    refuse_when_closing();
    if (call.expired()) {
        throw runtime::DeadlineExceeded("the deadline passed before PostgreSQL was asked");
    }
    Line* line = least_loaded();
    // Only at the very start, when nobody knows yet whether the server is there.
    if (!line && !lines.front()->was_tried()) {
        co_await lines.front()->first_attempt(call);
        line = least_loaded();
    }
    if (!line) {
        throw runtime::Unavailable("PostgreSQL is " + why_down(), std::chrono::seconds(1),
                                   runtime::Advice::repeat);
    }
    if (load() >= options.waiting_max) {
        throw runtime::Unavailable("too many statements wait for PostgreSQL",
                                   std::chrono::seconds(1));
    }
    const bool writes = std::ranges::any_of(queries, &Query::writes);
    auto span = begin_span(call, queries);
    const auto exchange = std::make_shared<Exchange>(
        callers, std::move(queries), Exchange::Rules{writes, true}, std::move(span));
    line->connection().submit(exchange);
    co_return co_await exchange->results(call.deadline);
}

Line* Pool::State::least_loaded() {
    Line* best = nullptr;
    for (const auto& line : lines) {
        if (!line->is_up() || line->connection().lose_if_replaced()) continue;
        if (!best || line->connection().load() < best->connection().load()) best = line.get();
    }
    return best;
}

std::size_t Pool::State::load() const {
    std::size_t total = 0;
    for (const auto& line : lines) total += line->is_up() ? line->connection().load() : 0;
    return total;
}

std::string Pool::State::why_down() {
    return least_loaded() ? std::string() : lines.front()->why_down();
}

void Pool::State::refuse_when_closing() const {
    if (closing) {
        throw runtime::Unavailable("the connections to PostgreSQL are being closed",
                                   std::chrono::seconds(1));
    }
}

asio::awaitable<void> Pool::State::drain(runtime::Deadline deadline) {
    try {
        co_await exclusives->returned(deadline);
    } catch (const runtime::DeadlineExceeded&) {
        runtime::log(runtime::Level::warning, "Transactions were cut off while closing",
                     {{"count", exclusives->lent()}});
    }
    for (const auto& line : lines) {
        if (!line->is_up()) continue;
        // Results come in order, so a lone sync is answered when all before it is done.
        const auto last = std::make_shared<Exchange>(callers, std::vector<Query>(),
                                                     Exchange::Rules{false, false});
        line->connection().submit(last);
        try {
            co_await last->results(deadline);
        } catch (const runtime::Failure&) {
            continue;  // late or lost: its callers hear of it when the connection ends
        }
    }
}

Pool::Pool(runtime::Core& core, PoolOptions options)
    : state_(std::make_shared<State>(core, std::move(options))) {}

Pool::~Pool() = default;

asio::awaitable<Rows> Pool::query(runtime::Call& call, Query query) {
    std::vector<Query> queries;
    queries.push_back(std::move(query));
    std::vector<Rows> results = co_await state_->run(call, std::move(queries));
    co_return std::move(results.front());
}

asio::awaitable<std::vector<Rows>> Pool::atomically(runtime::Call& call,
                                                    std::vector<Query> queries) {
    return state_->run(call, std::move(queries));
}

asio::awaitable<void> Pool::run_script(runtime::Call& call, std::string sql,
                                       std::chrono::milliseconds lock_timeout) {
    state_->refuse_when_closing();
    // The deadline alone bounds a migration, which may scan a large table.
    const Startup startup = state_->startup.with(
        {.statement = {}, .lock = lock_timeout, .idle_in_transaction = {}, .answer_grace = {}});
    co_await postgres::run_script(state_->core.io(), startup, call.deadline, std::move(sql));
}

bool Pool::is_up() const {
    return state_->least_loaded() != nullptr;
}

std::string Pool::why_down() const {
    return state_->why_down();
}

asio::awaitable<void> Pool::close(runtime::Call& call) {
    const std::shared_ptr<State> state = state_;
    state->closing = true;
    co_await state->drain(call.deadline);
    state->tasks.cancel();
    co_await state->tasks.join();
    state->exclusives->stop();
}

}  // namespace tenon::postgres
