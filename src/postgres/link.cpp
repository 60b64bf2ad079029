#include "postgres/link.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <boost/asio/error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cstdlib>
#include <optional>
#include <system_error>
#include <vector>

#include "postgres/rows.hpp"
#include "runtime/failure.hpp"
#include "runtime/wait.hpp"

namespace tenon::postgres {

namespace asio = boost::asio;

namespace {

[[noreturn]] void refuse(const std::string& why) {
    throw runtime::Unavailable("no connection to PostgreSQL: " + why, std::chrono::seconds(1),
                               runtime::Advice::repeat);
}

std::string on_one_line(std::string text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
    for (char& c : text) {
        if (c == '\n' || c == '\t') c = ' ';
    }
    return text;
}

}  // namespace

asio::awaitable<Link> Link::open(asio::io_context& io, const Startup& startup,
                                 runtime::Deadline deadline) {
    Link link(io);
    try {
        co_await runtime::until(deadline, link.connect(io, startup));
    } catch (const runtime::DeadlineExceeded&) {
        refuse(fmt::format("{} did not answer in time", startup.target()));
    }
    co_return link;
}

asio::awaitable<void> Link::connect(asio::io_context& io, const Startup& startup) {
    Startup resolved = startup;
    std::string unknown;
    try {
        resolved = co_await startup.resolved(io);
    } catch (const boost::system::system_error& failure) {
        if (failure.code() == asio::error::operation_aborted) throw;
        unknown = failure.code().message();
    }
    if (!unknown.empty()) refuse(fmt::format("{} ({})", unknown, startup.target()));
    for (std::optional<Startup> left = resolved; left;) {
        start(*left);
        co_await shake_hands();
        timeline_ = startup.timeline();
        if (!timeline_) co_return;
        met_ = co_await read_timeline();
        if (timeline_->admit(met_)) co_return;
        const std::string host = PQhost(get());
        left = left->after(host, PQport(get()));
        if (!left) {
            refuse(
                fmt::format("{} is on timeline {}, and timeline {} was met before: it is a "
                            "primary that was replaced",
                            host, met_, timeline_->newest()));
        }
    }
}

// Nothing else was asked yet, so this is the one result to come.
asio::awaitable<std::int32_t> Link::read_timeline() {
    constexpr const char* ask =
        "SELECT ('x' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8))::bit(32)::int4";
    bool alive = PQsendQuery(get(), ask) == 1 && PQflush(get()) == 0;
    while (alive && PQisBusy(get()) != 0) {
        co_await socket_.async_wait(Descriptor::wait_read, asio::use_awaitable);
        alive = PQconsumeInput(get()) == 1;
    }
    if (!alive) refuse(complaint());
    std::int32_t timeline = 0;
    std::string failed;
    while (PGresult* const result = PQgetResult(get())) {
        const Rows rows(result);
        if (PQresultStatus(result) != PGRES_TUPLES_OK || PQntuples(result) != 1) {
            failed = on_one_line(PQresultErrorMessage(result));
        } else {
            timeline = std::atoi(PQgetvalue(result, 0, 0));
        }
    }
    if (timeline <= 0) refuse(failed.empty() ? "it did not tell its timeline" : failed);
    co_return timeline;
}

std::string Link::complaint() const {
    const std::string text = on_one_line(PQerrorMessage(connection_.get()));
    return text.empty() ? "the connection was lost" : text;
}

void Link::close() {
    boost::system::error_code ignored;  // a descriptor that is gone is closed enough
    socket_.close(ignored);
    connection_.reset();
}

void Link::start(const Startup& startup) {
    std::vector<const char*> keywords;
    std::vector<const char*> values;
    for (const auto& [keyword, value] : startup.settings()) {
        keywords.push_back(keyword.c_str());
        values.push_back(value.c_str());
    }
    keywords.push_back(nullptr);
    values.push_back(nullptr);
    connection_.reset(PQconnectStartParams(keywords.data(), values.data(), 0));
    if (!connection_) throw std::bad_alloc();
}

asio::awaitable<void> Link::shake_hands() {
    auto next = PQstatus(connection_.get()) == CONNECTION_BAD ? PGRES_POLLING_FAILED
                                                              : PGRES_POLLING_WRITING;
    while (next != PGRES_POLLING_OK) {
        if (next == PGRES_POLLING_FAILED) refuse(complaint());
        // libpq may have gone on to another address, so the socket is looked at anew.
        watch();
        const auto what =
            next == PGRES_POLLING_READING ? Descriptor::wait_read : Descriptor::wait_write;
        co_await socket_.async_wait(what, asio::use_awaitable);
        next = PQconnectPoll(connection_.get());
    }
    watch();
    if (PQsetnonblocking(connection_.get(), 1) != 0) refuse(complaint());
}

void Link::watch() {
    boost::system::error_code failed;
    socket_.close(failed);
    const int duplicate = ::fcntl(PQsocket(connection_.get()), F_DUPFD_CLOEXEC, 0);
    if (duplicate < 0) refuse(std::generic_category().message(errno));
    socket_.assign(duplicate, failed);
    if (failed) {
        ::close(duplicate);
        refuse(failed.message());
    }
}

}  // namespace tenon::postgres
