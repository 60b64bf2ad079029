#include "postgres/link.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <system_error>
#include <vector>

#include "runtime/failure.hpp"

namespace tenon::postgres {

namespace asio = boost::asio;
using asio::experimental::awaitable_operators::operator||;

namespace {

/// False when the deadline came first.
asio::awaitable<bool> wait_for(asio::posix::stream_descriptor& socket,
                               asio::posix::descriptor_base::wait_type what,
                               runtime::Deadline deadline) {
    asio::steady_timer timer(socket.get_executor(), deadline);
    const auto first = co_await (socket.async_wait(what, asio::use_awaitable) ||
                                 timer.async_wait(asio::use_awaitable));
    co_return first.index() == 0;
}

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

/// Ends without an exception, so that a failure does not wait for the timer beside it.
asio::awaitable<void> look_up(asio::io_context& io, const Startup& from, Startup& to,
                              std::string& failure) {
    try {
        to = co_await from.resolved(io);
        failure.clear();
    } catch (const boost::system::system_error& unknown) {
        failure = unknown.code().message();
    }
}

}  // namespace

asio::awaitable<Link> Link::open(asio::io_context& io, const Startup& startup,
                                 runtime::Deadline deadline) {
    Link link(io);
    Startup resolved = startup;
    std::string unknown = "its name was not looked up in time";
    asio::steady_timer timer(io, deadline);
    co_await (look_up(io, startup, resolved, unknown) || timer.async_wait(asio::use_awaitable));
    if (!unknown.empty()) refuse(fmt::format("{} ({})", unknown, startup.target()));
    link.start(resolved);
    co_await link.shake_hands(deadline);
    co_return link;
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

asio::awaitable<void> Link::shake_hands(runtime::Deadline deadline) {
    auto next = PQstatus(connection_.get()) == CONNECTION_BAD ? PGRES_POLLING_FAILED
                                                              : PGRES_POLLING_WRITING;
    while (next != PGRES_POLLING_OK) {
        if (next == PGRES_POLLING_FAILED) refuse(complaint());
        // libpq may have gone on to another address, so the socket is looked at anew.
        watch();
        const auto what =
            next == PGRES_POLLING_READING ? Descriptor::wait_read : Descriptor::wait_write;
        if (!co_await wait_for(socket_, what, deadline))
            refuse("the server did not answer in time");
        next = PQconnectPoll(connection_.get());
    }
    watch();
    if (PQsetnonblocking(connection_.get(), 1) != 0) refuse(complaint());
}

void Link::watch() {
    boost::system::error_code ignored;
    socket_.close(ignored);
    const int duplicate = ::fcntl(PQsocket(connection_.get()), F_DUPFD_CLOEXEC, 0);
    if (duplicate < 0) throw std::system_error(errno, std::generic_category(), "fcntl");
    socket_.assign(duplicate);
}

}  // namespace tenon::postgres
