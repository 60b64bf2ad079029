#include "postgres/connection.hpp"

#include <fmt/format.h>

#include <boost/asio/error.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "postgres/measures.hpp"
#include "postgres/result_error.hpp"
#include "runtime/failure.hpp"
#include "runtime/log.hpp"
#include "runtime/report.hpp"

namespace tenon::postgres {

namespace asio = boost::asio;
using asio::experimental::awaitable_operators::operator&&;

namespace {

// What is given to libpq before it must have reached the socket: memory stays in the callers'
// hands.
constexpr std::size_t unflushed_bytes_max = 256 * 1024;
constexpr const char* closed_here = "it was closed on this side";

std::array<char, 32> name_of(std::uint32_t statement, std::uint32_t generation) {
    std::array<char, 32> name{};
    fmt::format_to_n(name.data(), name.size() - 1, "t{}_{}", statement, generation);
    return name;
}

}  // namespace

Connection::Connection(asio::io_context& io, Link link, Statements& statements,
                       std::chrono::milliseconds patience)
    : io_(io),
      link_(std::move(link)),
      statements_(statements),
      work_(io),
      overdue_(io),
      patience_(patience) {
    work_.expires_at(asio::steady_timer::time_point::max());
    PQsetNoticeReceiver(link_.get(), &Connection::remember_farewell, this);
    measures().connections.add(1);
    if (PQenterPipelineMode(link_.get()) != 1) lose(link_.complaint());
}

Connection::~Connection() {
    if (!lost_) measures().connections.add(-1);
}

asio::awaitable<void> Connection::run() {
    try {
        co_await (read_loop() && write_loop() && watch());
    } catch (const boost::system::system_error&) {
        lose(closed_here);  // cancelled
        throw;
    }
    lose("its loop ended");
}

void Connection::submit(std::shared_ptr<Exchange> exchange) {
    if (lost_) return exchange->lose(false, why_lost_);
    fresh_.push_back(std::move(exchange));
    if (fresh_.size() == 1) work_.cancel();
}

bool Connection::lose_if_replaced() {
    if (!lost_ && link_.is_replaced()) lose("its server was replaced as primary");
    return lost_;
}

void Connection::lose(const std::string& why) {
    if (lost_) return;
    lost_ = true;
    measures().connections.add(-1);
    if (why != closed_here) measures().lost.add();
    why_lost_ = farewell_.empty() ? why : farewell_;
    link_.close();
    work_.cancel();
    overdue_.cancel();
    expected_.clear();
    for (const auto& exchange : sent_) exchange->lose(true, why_lost_);
    for (const auto& exchange : fresh_) exchange->lose(false, why_lost_);
    sent_.clear();
    fresh_.clear();
}

std::shared_ptr<PGcancel> Connection::cancel_request() const {
    return {lost_ ? nullptr : PQgetCancel(link_.get()), &PQfreeCancel};
}

asio::awaitable<void> Connection::read_loop() {
    while (!lost_) {
        boost::system::error_code stopped;
        co_await link_.socket().async_wait(asio::posix::descriptor_base::wait_read,
                                           asio::redirect_error(asio::use_awaitable, stopped));
        if (lost_) break;
        if (stopped) {
            lose(stopped == asio::error::operation_aborted ? closed_here : stopped.message());
            break;
        }
        const bool alive = PQconsumeInput(link_.get()) == 1;
        deliver();
        if (!alive && !lost_) lose(link_.complaint());
    }
}

asio::awaitable<void> Connection::write_loop() {
    while (!lost_) {
        if (fresh_.empty()) {
            co_await wait_for_work();
            continue;
        }
        write_some();
        // libpq reads while it cannot write, so results may be there without the socket saying so.
        int unsent = lost_ ? -1 : PQflush(link_.get());
        if (!lost_) deliver();
        while (!lost_ && unsent == 1) {
            boost::system::error_code stopped;
            co_await link_.socket().async_wait(asio::posix::descriptor_base::wait_write,
                                               asio::redirect_error(asio::use_awaitable, stopped));
            if (lost_) break;
            unsent = PQflush(link_.get());
            deliver();
        }
        if (!lost_ && unsent < 0) lose(link_.complaint());
    }
}

// The server ends a statement at its statement_timeout, so whoever owes an answer for longer is
// frozen, or waits for the rest of a message whose length was damaged on its way.
asio::awaitable<void> Connection::watch() {
    while (!lost_ && patience_.count() > 0) {
        if (expected_.empty()) answered_ = std::chrono::steady_clock::now();
        overdue_.expires_at(answered_ + patience_);
        boost::system::error_code woken;
        co_await overdue_.async_wait(asio::redirect_error(asio::use_awaitable, woken));
        if (lost_) break;
        if (woken) {
            lose(closed_here);
        } else if (!expected_.empty() &&
                   std::chrono::steady_clock::now() - answered_ >= patience_) {
            lose(fmt::format("no answer for {} ms", patience_.count()));
        }
    }
}

asio::awaitable<void> Connection::wait_for_work() {
    boost::system::error_code woken;
    co_await work_.async_wait(asio::redirect_error(asio::use_awaitable, woken));
    // Woken in the same way by submit() and by cancellation: only the latter leaves nothing to do.
    const auto state = co_await asio::this_coro::cancellation_state;
    if (state.cancelled() != asio::cancellation_type::none) lose(closed_here);
}

void Connection::write_some() {
    std::size_t bytes = 0;
    while (!lost_ && !fresh_.empty() && bytes < unflushed_bytes_max) {
        const std::shared_ptr<Exchange> exchange = std::move(fresh_.front());
        fresh_.pop_front();
        if (exchange->is_abandoned()) {
            exchange->lose(false, "nobody waited for the statement any more");
            continue;
        }
        for (const Query& query : exchange->queries()) bytes += query.parameters.bytes_total() + 64;
        sent_.push_back(exchange);
        write(exchange);
    }
}

void Connection::write(const std::shared_ptr<Exchange>& exchange) {
    if (expected_.empty()) answered_ = std::chrono::steady_clock::now();
    bool queued = true;
    for (const Query& query : exchange->queries()) {
        queued = queued && write_query(*exchange, query);
    }
    queued = queued && PQpipelineSync(link_.get()) == 1;
    if (!queued) return lose(link_.complaint());
    expected_.push_back({Step::Kind::sync, 0, 0, exchange.get(), ""});
}

bool Connection::write_query(Exchange& exchange, const Query& query) {
    const std::uint32_t number = statements_.number_of(query);
    if (number >= prepared_.size()) prepared_.resize(statements_.size());
    if (!prepared_[number].ready && !prepare(exchange, query, number)) return false;

    const Parameters& parameters = query.parameters;
    const std::size_t count = parameters.size();
    values_.resize(count);
    lengths_.resize(count);
    formats_.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
        const Parameters::Entry& entry = parameters.entries()[i];
        formats_[i] = entry.form;
        lengths_[i] = entry.length;
        values_[i] = entry.length < 0 ? nullptr : parameters.bytes(i).data();
    }
    const std::uint32_t generation = prepared_[number].generation;
    const auto name = name_of(number, generation);
    if (PQsendQueryPrepared(link_.get(), name.data(), static_cast<int>(count), values_.data(),
                            lengths_.data(), formats_.data(), 1) != 1) {
        return false;
    }
    expected_.push_back({Step::Kind::execute, number, generation, &exchange, query.statement.sql});
    return true;
}

bool Connection::prepare(Exchange& exchange, const Query& query, std::uint32_t number) {
    const Statements::Entry& statement = statements_[number];
    Prepared& prepared = prepared_[number];
    const auto name = name_of(number, prepared.generation);
    if (PQsendPrepare(link_.get(), name.data(), statement.text.c_str(),
                      static_cast<int>(statement.types.size()), statement.types.data()) != 1) {
        return false;
    }
    prepared.ready = true;
    expected_.push_back(
        {Step::Kind::prepare, number, prepared.generation, &exchange, query.statement.sql});
    return true;
}

void Connection::deliver() {
    while (!lost_ && !expected_.empty() && PQisBusy(link_.get()) == 0) {
        take(PQgetResult(link_.get()));
    }
}

void Connection::take(PGresult* result) {
    answered_ = std::chrono::steady_clock::now();
    Step& step = expected_.front();
    if (!result) {  // the end of a statement's results; a sync has none
        if (step.kind == Step::Kind::sync) return lose("the pipeline lost its order");
        expected_.pop_front();
        return;
    }
    Rows rows(result);
    switch (PQresultStatus(result)) {
        case PGRES_PIPELINE_SYNC:
            if (step.kind != Step::Kind::sync) return lose("the pipeline lost its order");
            return take_sync();
        case PGRES_PIPELINE_ABORTED:
            if (step.kind == Step::Kind::prepare) forget(step);
            return;
        case PGRES_TUPLES_OK:
        case PGRES_COMMAND_OK:
        case PGRES_EMPTY_QUERY:
            if (step.kind == Step::Kind::execute) step.exchange->add(std::move(rows));
            return;
        case PGRES_FATAL_ERROR:
            return take_error(step, result);
        default:
            return lose("a statement began a COPY, which a pipeline cannot carry");
    }
}

void Connection::take_error(Step& step, PGresult* result) {
    const QueryFailed::Report report = report_of(result, step.sql);
    if (ends_session(result)) {
        if (!report.message.empty()) farewell_ = report.message;
        return lose(link_.complaint());
    }
    if (step.kind == Step::Kind::prepare) forget(step);
    if (is_stale_plan(result)) {
        forget(step);  // the old plan stays in the backend: a few kilobytes per change of schema
        step.exchange->mark_stale();
    }
    step.exchange->fail(std::make_exception_ptr(QueryFailed(report)));
}

void Connection::take_sync() {
    if (!sent_.front()->is_complete()) return lose("the pipeline lost its order");
    expected_.pop_front();
    const std::shared_ptr<Exchange> exchange = std::move(sent_.front());
    sent_.pop_front();
    if (exchange->begin_again()) {
        submit(exchange);
    } else {
        exchange->finish();
    }
}

// Several exchanges may have been on their way with the same plan: the first to fail names it anew.
void Connection::forget(const Step& step) {
    Prepared& prepared = prepared_[step.statement];
    if (prepared.generation != step.generation) return;
    prepared.ready = false;
    ++prepared.generation;
}

void Connection::remember_farewell(void* self, const PGresult* notice) {
    const char* severity = PQresultErrorField(notice, PG_DIAG_SEVERITY_NONLOCALIZED);
    const char* message = PQresultErrorField(notice, PG_DIAG_MESSAGE_PRIMARY);
    if (!severity || !message) return;
    const std::string_view kind = severity;
    if (kind == "FATAL" || kind == "PANIC" || kind == "ERROR") {
        static_cast<Connection*>(self)->farewell_ = message;
    } else if (kind == "WARNING") {
        runtime::log(runtime::Level::warning, "PostgreSQL warns", {{"notice", message}});
    }
}

}  // namespace tenon::postgres
