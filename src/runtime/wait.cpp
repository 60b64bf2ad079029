#include "runtime/wait.hpp"

#include <boost/asio/use_awaitable.hpp>

namespace tenon::runtime {

namespace asio = boost::asio;

asio::awaitable<void> pause_for(std::chrono::nanoseconds time) {
    asio::steady_timer timer(co_await asio::this_coro::executor, time);
    co_await timer.async_wait(asio::use_awaitable);
}

asio::awaitable<void> pause_until(Deadline instant) {
    asio::steady_timer timer(co_await asio::this_coro::executor, instant);
    co_await timer.async_wait(asio::use_awaitable);
}

asio::awaitable<void> Event::wait(Deadline deadline) {
    // One that was reset between the wake and this turn has still happened.
    if (set_) co_return;
    expect_ready(co_await waits_.wait(deadline), "an event");
}

}  // namespace tenon::runtime
