// Readiness of many sockets, fetched in batches within a core's loop.
#pragma once

#include <sys/epoll.h>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstdint>
#include <functional>
#include <vector>

namespace tenon::http {

/// Something with a descriptor that is told when it became ready.
class Pollable {
public:
    virtual ~Pollable() = default;
    /// `events` are epoll's. May destroy this object, but no other that is registered.
    virtual void on_events(std::uint32_t events) = 0;
};

/// An epoll set of its own that lies, as one descriptor, in the core's Asio loop.
///
/// Asio asks the kernel twice per request: it tries to read before it waits. Here a socket is read
/// when it is ready, and one system call tells of all that are ready, so a busy core spends one
/// receive and one send on a request and nothing else.
///
/// Threads: its core's.
/// Source:  epoll(7), on edge-triggered use.
class Poller {
public:
    explicit Poller(boost::asio::io_context& io);
    /// Throws system_error when the kernel refuses.
    void add(int descriptor, std::uint32_t events, Pollable& pollable);
    void change(int descriptor, std::uint32_t events, Pollable& pollable);
    /// Tells what is ready, until cancelled; `before_batch` runs ahead of every batch.
    boost::asio::awaitable<void> run(std::function<void()> before_batch);

private:
    [[nodiscard]] int fetch(const std::function<void()>& before_batch);

    boost::asio::posix::stream_descriptor epoll_;
    std::vector<epoll_event> events_;  ///< of one fetch; made once
};

}  // namespace tenon::http
