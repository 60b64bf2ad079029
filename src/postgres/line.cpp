#include "postgres/line.hpp"

#include <fmt/format.h>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/rfc3339.hpp"
#include "runtime/failure.hpp"
#include "runtime/log.hpp"

namespace tenon::postgres {

namespace asio = boost::asio;

namespace {

// A connection that lived this long was a success; one that ends sooner goes on backing off.
constexpr std::chrono::seconds settled_after{5};

// A server that is back is used within a second; one attempt a second burdens nobody.
constexpr base::Backoff::Options backoff_options{.longest = std::chrono::milliseconds(1'000)};

}  // namespace

Line::Line(runtime::Core& core, const Startup& startup, Statements& statements,
           std::chrono::milliseconds connect_timeout)
    : core_(core),
      startup_(startup),
      statements_(statements),
      connect_timeout_(connect_timeout),
      backoff_(backoff_options, core.random()),
      tried_(core.io()),
      why_("it was not tried yet"),
      down_since_(core.clock().now()) {}

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
        connection_ = std::make_shared<Connection>(core_.io(), std::move(link), statements_,
                                                   startup_.patience());
    } catch (const runtime::Unavailable& away) {
        note_down(away.what());
    }
    tried_.set();
    if (!connection_) co_return;
    why_.clear();
    const std::shared_ptr<Connection> connection = connection_;
    co_await connection->run();
    connection_.reset();
    const auto state = co_await asio::this_coro::cancellation_state;
    if (state.cancelled() != asio::cancellation_type::none) co_return;  // closed on purpose
    note_down("the connection to PostgreSQL was lost: " + connection->why_lost());
}

std::string Line::why_down() const {
    if (is_up()) return {};
    // Between a loss and the end of its loop the connection itself knows why.
    const base::Time since = connection_ ? core_.clock().now() : down_since_;
    return fmt::format("down since {}: {}",
                       base::format_time(std::chrono::floor<std::chrono::milliseconds>(since)),
                       connection_ ? connection_->why_lost() : why_);
}

void Line::note_down(const std::string& why) {
    if (why_.empty()) down_since_ = core_.clock().now();
    if (why_ == why) return;  // said before
    why_ = why;
    runtime::log(runtime::Level::warning, "A connection to PostgreSQL is down",
                 {{"server", startup_.target()}, {"reason", why}});
}

}  // namespace tenon::postgres
