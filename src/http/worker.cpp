#include "http/worker.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <utility>

#include "runtime/log.hpp"

namespace tenon::http {

namespace {

using std::chrono::milliseconds;

// Connections over the maximum that may still be told so; beyond them they are just closed.
constexpr std::size_t turned_away_max = 64;
constexpr int accepts_per_turn_max = 64;
constexpr milliseconds sweep_period_min{5};
constexpr milliseconds sweep_period_max{1'000};

std::string textual(const sockaddr_storage& address) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    const void* bytes = nullptr;
    if (address.ss_family == AF_INET) {
        bytes = &reinterpret_cast<const sockaddr_in*>(&address)->sin_addr;
    } else {
        bytes = &reinterpret_cast<const sockaddr_in6*>(&address)->sin6_addr;
    }
    ::inet_ntop(address.ss_family, bytes, text.data(), text.size());
    return text.data();
}

}  // namespace

class Worker::Listener final : public Pollable {
public:
    Listener(Worker& worker, Socket socket) : worker_(worker), socket_(std::move(socket)) {}
    void on_events(std::uint32_t) override { worker_.accept_from(*this); }
    [[nodiscard]] int descriptor() const { return socket_.get(); }

private:
    Worker& worker_;
    Socket socket_;
};

Worker::Worker(runtime::Core& core, const Office& office)
    : desk_(core, office), own_tasks_(core.io()) {}

Worker::~Worker() = default;

void Worker::take_listeners(std::vector<Socket> sockets) {
    for (Socket& socket : sockets) {
        listeners_.push_back(std::make_unique<Listener>(*this, std::move(socket)));
    }
}

void Worker::start() {
    desk_.read_clocks();
    for (const auto& listener : listeners_) {
        desk_.poller.add(listener->descriptor(), EPOLLIN, *listener);
    }
    started_ = true;
    own_tasks_.spawn("http.poll", desk_.poller.run([this] { desk_.read_clocks(); }));
    own_tasks_.spawn("http.sweep", sweep());
}

void Worker::accept_from(Listener& listener) {
    for (int i = 0; i < accepts_per_turn_max && accept_one(listener); ++i) {
    }
}

bool Worker::accept_one(Listener& listener) {
    sockaddr_storage address{};
    socklen_t length = sizeof address;
    Socket socket(::accept4(listener.descriptor(), reinterpret_cast<sockaddr*>(&address), &length,
                            SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (socket.is_open()) {
        admit(std::move(socket), textual(address));
        return true;
    }
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
        pause_accepting(errno);
    }
    // A client that gave up in the queue is no reason to stop.
    return errno == ECONNABORTED || errno == EINTR;
}

void Worker::admit(Socket socket, std::string address) {
    std::atomic<std::size_t>& count = desk_.office.connections_open;
    const std::size_t open = count.fetch_add(1, std::memory_order_relaxed);
    const std::size_t most = desk_.options.connections_max;
    if (open >= most + turned_away_max) {
        count.fetch_sub(1, std::memory_order_relaxed);
        return;
    }
    auto& idle = desk_.waiting(Wait::idle);
    const Certificate* const certificate = desk_.office.certificate;
    auto session = certificate == nullptr ? nullptr : certificate->open(socket.get());
    idle.emplace_back(desk_, Transport(std::move(socket), std::move(session)), std::move(address));
    const auto place = std::prev(idle.end());
    place->settle_at(place);
    desk_.poller.add(place->descriptor(), connection_events, *place);
    if (open >= most) place->turn_away();
}

// Level-triggered listeners would raise their event for ever while no descriptor is free.
void Worker::pause_accepting(int error) {
    if (std::exchange(paused_, true)) return;
    for (const auto& one : listeners_) desk_.poller.change(one->descriptor(), 0, *one);
    runtime::log(runtime::Level::warning, "No connection can be accepted for want of resources.",
                 {{"error", std::generic_category().message(error)}});
}

void Worker::resume_accepting() {
    if (!std::exchange(paused_, false)) return;
    for (const auto& one : listeners_) desk_.poller.change(one->descriptor(), EPOLLIN, *one);
}

milliseconds Worker::sweep_period() const {
    milliseconds least = sweep_period_max * 4;
    for (std::size_t wait = 0; wait < waits_total; ++wait) {
        const milliseconds timeout = desk_.timeout(static_cast<Wait>(wait));
        if (timeout.count() > 0) least = std::min(least, timeout);
    }
    return std::clamp(least / 4, sweep_period_min, sweep_period_max);
}

boost::asio::awaitable<void> Worker::sweep() {
    boost::asio::steady_timer timer(desk_.core.io());
    const milliseconds period = sweep_period();
    for (;;) {
        timer.expires_after(period);
        co_await timer.async_wait(boost::asio::use_awaitable);
        desk_.read_clocks();
        resume_accepting();
        end_overdue();
        // One core looks for all.
        if (desk_.office.certificate != nullptr && desk_.core.index() == 0) {
            desk_.office.certificate->reload_if_changed();
        }
    }
}

void Worker::end_overdue() {
    for (std::size_t wait = 0; wait < waits_total; ++wait) {
        if (static_cast<Wait>(wait) == Wait::handler) continue;
        auto& waiting = desk_.waiters[wait];
        while (!waiting.empty() && waiting.front().deadline() <= desk_.now) {
            waiting.front().on_timeout();
        }
    }
}

bool Worker::is_empty() const {
    return std::ranges::all_of(desk_.waiters, [](const auto& list) { return list.empty(); });
}

void Worker::drain(std::function<void()> ended) {
    desk_.read_clocks();
    // Closing a shared listener resets who is in its queue: take them in first.
    for (const auto& listener : listeners_) {
        while (accept_one(*listener)) {
        }
    }
    listeners_.clear();
    desk_.draining = true;
    // Among those who began a head are those who did not end a handshake.
    for (const Wait wait : {Wait::idle, Wait::head}) {
        auto& waiting = desk_.waiting(wait);
        for (auto next = waiting.begin(); next != waiting.end();) (next++)->drain();
    }
    own_tasks_.spawn("http.drain", finish(std::move(ended)));
}

void Worker::abort() {
    for (auto& waiting : desk_.waiters) {
        for (auto next = waiting.begin(); next != waiting.end();) (next++)->abort();
    }
    desk_.tasks.cancel();
}

void Worker::stop(std::function<void()> ended) {
    own_tasks_.cancel();
    if (own_tasks_.size() == 0) return ended();
    // What was cancelled ends in the loop's next turns.
    boost::asio::post(desk_.core.io(),
                      [this, ended = std::move(ended)]() mutable { stop(std::move(ended)); });
}

boost::asio::awaitable<void> Worker::finish(std::function<void()> ended) {
    constexpr milliseconds look_again{2};
    boost::asio::steady_timer timer(desk_.core.io());
    while (!is_empty() || desk_.tasks.size() > 0) {
        timer.expires_after(look_again);
        co_await timer.async_wait(boost::asio::use_awaitable);
    }
    ended();
}

}  // namespace tenon::http
