#include "http/poller.hpp"

#include <sys/epoll.h>

#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <system_error>

namespace tenon::http {

namespace {

// More at once would let the loop's other work wait too long.
constexpr int batch_max = 256;
// So many batches in a row before the loop's other work has its turn.
constexpr int batches_in_a_row_max = 4;

void control(int epoll, int operation, int descriptor, std::uint32_t events, Pollable& pollable) {
    epoll_event event{};
    event.events = events;
    event.data.ptr = &pollable;
    if (::epoll_ctl(epoll, operation, descriptor, &event) != 0) {
        throw std::system_error(errno, std::generic_category(), "epoll_ctl");
    }
}

int make_epoll() {
    const int epoll = ::epoll_create1(EPOLL_CLOEXEC);
    if (epoll < 0) throw std::system_error(errno, std::generic_category(), "epoll_create1");
    return epoll;
}

}  // namespace

Poller::Poller(boost::asio::io_context& io) : epoll_(io, make_epoll()) {}

void Poller::add(int descriptor, std::uint32_t events, Pollable& pollable) {
    control(epoll_.native_handle(), EPOLL_CTL_ADD, descriptor, events, pollable);
}

void Poller::change(int descriptor, std::uint32_t events, Pollable& pollable) {
    control(epoll_.native_handle(), EPOLL_CTL_MOD, descriptor, events, pollable);
}

int Poller::fetch(const std::function<void()>& before_batch) {
    events_.resize(batch_max);
    const int count = ::epoll_wait(epoll_.native_handle(), events_.data(), batch_max, 0);
    if (count <= 0) return 0;
    before_batch();
    for (int i = 0; i < count; ++i) {
        const epoll_event event = events_[static_cast<std::size_t>(i)];
        static_cast<Pollable*>(event.data.ptr)->on_events(event.events);
    }
    return count;
}

boost::asio::awaitable<void> Poller::run(std::function<void()> before_batch) {
    for (;;) {
        for (int i = 0; i < batches_in_a_row_max && fetch(before_batch) > 0; ++i) {
        }
        // Re-arms the edge: what became ready in between is told at once.
        co_await epoll_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                                   boost::asio::use_awaitable);
    }
}

}  // namespace tenon::http
