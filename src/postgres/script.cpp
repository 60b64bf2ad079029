#include "postgres/script.hpp"

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <memory>

#include "postgres/link.hpp"
#include "postgres/result_error.hpp"
#include "runtime/failure.hpp"

namespace tenon::postgres {

namespace asio = boost::asio;
using asio::experimental::awaitable_operators::operator||;

namespace {

void ignore_notice(void*, const PGresult*) {}

[[noreturn]] void lose(const Link& link) {
    throw runtime::OutcomeUnknown("the connection to PostgreSQL was lost during a script: " +
                                  link.complaint());
}

/// Sends what libpq holds, reading meanwhile.
asio::awaitable<void> flush(Link& link) {
    using asio::posix::descriptor_base;
    int unsent = PQflush(link.get());
    while (unsent == 1) {
        const auto ready =
            co_await (link.socket().async_wait(descriptor_base::wait_write, asio::use_awaitable) ||
                      link.socket().async_wait(descriptor_base::wait_read, asio::use_awaitable));
        if (ready.index() == 1 && PQconsumeInput(link.get()) != 1) lose(link);
        unsent = PQflush(link.get());
    }
    if (unsent < 0) lose(link);
}

/// Reads all results; throws the first error after the last of them.
asio::awaitable<void> read_results(Link& link, const std::string& sql) {
    std::exception_ptr failure;
    for (;;) {
        while (PQisBusy(link.get()) != 0) {
            co_await link.socket().async_wait(asio::posix::descriptor_base::wait_read,
                                              asio::use_awaitable);
            if (PQconsumeInput(link.get()) != 1 && PQisBusy(link.get()) != 0) lose(link);
        }
        const std::unique_ptr<PGresult, decltype(&PQclear)> result(PQgetResult(link.get()),
                                                                   &PQclear);
        if (!result) break;
        if (PQresultStatus(result.get()) != PGRES_FATAL_ERROR) continue;
        if (ends_session(result.get())) lose(link);
        failure = std::make_exception_ptr(QueryFailed(report_of(result.get(), sql.c_str())));
    }
    if (failure) std::rethrow_exception(failure);
}

/// Ends with what went wrong as a value, so that it does not wait for the timer beside it.
asio::awaitable<std::exception_ptr> execute(Link& link, const std::string& sql) {
    try {
        co_await flush(link);
        co_await read_results(link, sql);
    } catch (const runtime::Failure&) {
        co_return std::current_exception();
    }
    co_return nullptr;
}

}  // namespace

asio::awaitable<void> run_script(asio::io_context& io, const Startup& startup,
                                 runtime::Deadline deadline, std::string sql) {
    Link link = co_await Link::open(io, startup, deadline);
    PQsetNoticeReceiver(link.get(), &ignore_notice, nullptr);
    if (PQsendQuery(link.get(), sql.c_str()) != 1) lose(link);
    asio::steady_timer timer(io, deadline);
    const auto first = co_await (execute(link, sql) || timer.async_wait(asio::use_awaitable));
    if (first.index() == 1) throw runtime::DeadlineExceeded("a script did not end in time");
    if (const auto failure = std::get<0>(first)) std::rethrow_exception(failure);
}

}  // namespace tenon::postgres
