#include "postgres/script.hpp"

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <memory>

#include "postgres/link.hpp"
#include "postgres/result_error.hpp"
#include "runtime/failure.hpp"
#include "runtime/wait.hpp"

namespace tenon::postgres {

namespace asio = boost::asio;
using asio::experimental::awaitable_operators::operator||;

namespace {

void ignore_notice(void*, const PGresult*) {}

[[noreturn]] void lose(const Link& link) {
    throw runtime::OutcomeUnknown("the connection to PostgreSQL was lost during a script: " +
                                  link.complaint());
}

/// Ends without an exception, so that the other of two waits can end too.
asio::awaitable<void> ready_for(Link& link, asio::posix::descriptor_base::wait_type what) {
    boost::system::error_code stopped;
    co_await link.socket().async_wait(what, asio::redirect_error(asio::use_awaitable, stopped));
}

/// Sends what libpq holds, reading meanwhile.
asio::awaitable<void> flush(Link& link) {
    using asio::posix::descriptor_base;
    int unsent = PQflush(link.get());
    while (unsent == 1) {
        const auto ready = co_await (ready_for(link, descriptor_base::wait_write) ||
                                     ready_for(link, descriptor_base::wait_read));
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

asio::awaitable<void> execute(Link& link, const std::string& sql) {
    co_await flush(link);
    co_await read_results(link, sql);
}

}  // namespace

asio::awaitable<void> run_script(asio::io_context& io, const Startup& startup,
                                 runtime::Deadline deadline, std::string sql) {
    Link link = co_await Link::open(io, startup, deadline);
    PQsetNoticeReceiver(link.get(), &ignore_notice, nullptr);
    if (PQsendQuery(link.get(), sql.c_str()) != 1) lose(link);
    try {
        co_await runtime::until(deadline, execute(link, sql));
    } catch (const runtime::DeadlineExceeded&) {
        throw runtime::DeadlineExceeded("a script did not end before its deadline");
    }
}

}  // namespace tenon::postgres
