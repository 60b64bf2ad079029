// One client's connection: reads, answers in order, writes, and knows what it waits for.
#pragma once

#include <sys/epoll.h>

#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/deferred.hpp>
#include <cstdint>
#include <list>
#include <optional>
#include <string>

#include "http/desk.hpp"
#include "http/poller.hpp"
#include "http/request_stream.hpp"
#include "http/route.hpp"
#include "http/transport.hpp"
#include "runtime/resume.hpp"

namespace tenon::http {

/// What a connection's socket is registered for: edge-triggered, once, for ever.
inline constexpr std::uint32_t connection_events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;

/// Serves one socket that is registered, edge-triggered, with its core's Poller.
///
/// Requests that can be answered at once are answered here, in one turn of the loop, with one
/// receive and one send; for others the connection starts one coroutine, which then waits for the
/// connection's later requests of that sort.
///
/// Owns:    the socket. Lives in one of the desk's lists and leaves it, and life, when it is done.
/// Threads: its core's.
class Connection final : public Pollable {
public:
    using Place = std::list<Connection>::iterator;

    /// `address` is the peer's, textual.
    Connection(Desk& desk, Transport transport, std::string address);
    ~Connection() override;
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    /// Where it lies in the desk's list for Wait::idle; called once, right after it was put there.
    void settle_at(Place place);
    [[nodiscard]] int descriptor() const { return transport_.descriptor(); }
    [[nodiscard]] Desk::Instant deadline() const { return deadline_; }

    void on_events(std::uint32_t events) override;
    /// Its wait lasted too long. May destroy it.
    void on_timeout();
    /// Answers with 503 and closes. May destroy it.
    void turn_away();
    /// Ends it now if it is idle, after a last look for a request. May destroy it.
    void drain();
    /// Ends it now, whatever it does. May destroy it; with a handler running, the handler's end
    /// does.
    void abort();

private:
    void advance();
    void shake_hands();
    void pump();
    void take_request();
    void name_client(Request& request);
    bool receive();
    void flush();
    void refuse(const Refusal& refusal);
    void finish_response(Response& response);
    void append(const Response& response, const Delivery& delivery);
    void begin_close();
    void discard_input();
    void wait_for(Wait wait);
    void rest();
    void start_handler();
    boost::asio::awaitable<void> serve();
    boost::asio::awaitable<void> serve_each();
    void remove();
    [[nodiscard]] bool has_output() const { return written_ < out_.size(); }

    /// To be awaited: suspends serve() until the next request for it, or the end.
    [[nodiscard]] auto park() {
        return boost::asio::async_initiate<const boost::asio::deferred_t, void(runtime::Wake)>(
            [this](auto handler) { parked_.fill(std::move(handler)); }, boost::asio::deferred);
    }

    Desk& desk_;
    Transport transport_;
    std::string address_;             // the peer's
    std::optional<IpAddress> proxy_;  // the same, when its word on the client counts
    std::string client_;              // whom the proxy named last
    RequestStream stream_;
    std::string out_;
    std::size_t written_ = 0;     // of out_
    std::size_t unflushed_ = 0;   // responses in out_
    std::uint64_t progress_ = 0;  // requests answered and pieces written: what renews a wait
    std::uint64_t waiting_since_ = 0;
    Desk::Instant deadline_;
    std::size_t discarded_ = 0;
    int reads_ = 0;  // in this turn of the loop
    Place place_;
    Wait wait_ = Wait::idle;
    bool readable_ = false;  // the socket may hold bytes
    bool hang_up_ = false;   // the end is among what can be read
    bool blocked_ = false;   // the socket takes no more
    bool handling_ = false;  // serve() has the present request
    bool has_coroutine_ = false;
    bool closing_ = false;   // nothing more is answered
    bool refused_ = false;   // the client may not have noticed yet
    bool too_many_ = false;  // to be turned away after the handshake
    bool lingering_ = false;
    bool gone_ = false;  // nothing more is read or written
    Route route_;
    Response response_;  // of the handler
    runtime::Resume parked_;
};

}  // namespace tenon::http
