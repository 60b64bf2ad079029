#include "postgres/line.hpp"

#include <fmt/format.h>

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/rfc3339.hpp"
#include "runtime/failure.hpp"
#include "runtime/log.hpp"

namespace tenon::postgres {

namespace asio = boost::asio;
using asio::experimental::awaitable_operators::operator||;

namespace {

// A connection that lived this long was a success; one that ends sooner goes on backing off.
constexpr std::chrono::seconds settled_after{5};

}  // namespace

Line::Line(runtime::Core& core, const Startup& startup, Statements& statements,
           std::chrono::milliseconds connect_timeout)
    : core_(core),
      startup_(startup),
      statements_(statements),
      connect_timeout_(connect_timeout),
      backoff_({}, core.random()),
      tried_first_(core.io(), asio::steady_timer::time_point::max()),
      why_("it was not tried yet"),
      down_since_(std::chrono::system_clock::now()) {}

asio::awaitable<void> Line::keep_up() {
    asio::steady_timer pause(core_.io());
    for (;;) {
        const auto began = std::chrono::steady_clock::now();
        co_await attempt();
        if (std::chrono::steady_clock::now() - began > settled_after) backoff_.reset();
        pause.expires_after(backoff_.next());
        co_await pause.async_wait(asio::use_awaitable);
    }
}

asio::awaitable<void> Line::attempt() {
    const auto deadline = std::chrono::steady_clock::now() + connect_timeout_;
    try {
        Link link = co_await Link::open(core_.io(), startup_, deadline);
        connection_ = std::make_shared<Connection>(core_.io(), std::move(link), statements_);
    } catch (const runtime::Unavailable& away) {
        note_down(away.what());
    }
    tried_ = true;
    tried_first_.cancel();
    if (!connection_) co_return;
    ++ups_;
    why_.clear();
    const std::shared_ptr<Connection> connection = connection_;
    co_await connection->run();
    connection_.reset();
    note_down("the connection to PostgreSQL was lost: " + connection->why_lost());
}

asio::awaitable<void> Line::first_attempt(runtime::Deadline deadline) {
    if (tried_) co_return;
    boost::system::error_code woken;
    asio::steady_timer timer(core_.io(), deadline);
    co_await (tried_first_.async_wait(asio::redirect_error(asio::use_awaitable, woken)) ||
              timer.async_wait(asio::use_awaitable));
}

std::string Line::why_down() const {
    if (is_up()) return {};
    // Between a loss and the end of its loop the connection itself knows why.
    const auto since = connection_ ? std::chrono::system_clock::now() : down_since_;
    return fmt::format("down since {}: {}",
                       base::format_time(std::chrono::floor<std::chrono::milliseconds>(since)),
                       connection_ ? connection_->why_lost() : why_);
}

void Line::note_down(const std::string& why) {
    if (why_.empty()) down_since_ = std::chrono::system_clock::now();
    if (why_ == why) return;  // said before
    why_ = why;
    runtime::log(runtime::Level::warning, "A connection to PostgreSQL is down",
                 {{"server", startup_.target()}, {"reason", why}});
}

}  // namespace tenon::postgres
