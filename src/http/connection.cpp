#include "http/connection.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <exception>
#include <utility>

#include "base/assert.hpp"
#include "http/errors.hpp"
#include "http/forwarded.hpp"

namespace tenon::http {

namespace {

// So much unwritten output stops answering until it is written.
constexpr std::size_t output_max = 256 * 1024;
constexpr std::size_t spare_output_max = 64 * 1024;
// What is thrown away at once, and in all, while a refused client finishes sending.
constexpr std::size_t discarded_per_read = 16 * 1024;
constexpr std::size_t discarded_max = 4 * 1024 * 1024;
const Refusal too_many{.type = &errors::connections_exhausted,
                       .detail = "Repeat the request after the time in Retry-After.",
                       .repeat_after = std::chrono::seconds(1)};
// After so many reads in one turn the other connections have theirs.
constexpr int reads_per_turn_max = 16;

}  // namespace

Desk::Desk(runtime::Core& on, const Office& of)
    : core(on),
      office(of),
      dispatcher(of.dispatcher),
      options(of.options),
      buffers(std::max<std::size_t>(of.limits.header_bytes_max, 16 * 1024) + 4096),
      refused(runtime::metrics().counter(
          {.name = "tenon_http_refused_total",
           .help = "Requests refused for their form, their size or their slowness."})),
      bodies_refused(runtime::metrics().counter(
          {.name = "tenon_http_bodies_refused_total",
           .help = "Requests refused because other bodies took all of http.bodies_bytes_max."})),
      handshakes_failed(runtime::metrics().counter(
          {.name = "tenon_http_tls_handshakes_failed_total",
           .help = "Connections that ended before both sides had agreed on TLS."})),
      poller(on.io()),
      tasks(on.io()) {}

void Desk::read_clocks() {
    now = std::chrono::steady_clock::now();
    date = date_line.at(core.clock().now());
}

std::chrono::milliseconds Desk::timeout(Wait wait) const {
    constexpr std::chrono::milliseconds linger_max{2'000};
    switch (wait) {
        case Wait::idle:
            return options.idle_timeout;
        case Wait::head:
            return options.header_timeout;
        case Wait::body:
            return options.body_timeout;
        case Wait::write:
            return options.write_timeout;
        case Wait::linger:
            return std::min(linger_max, options.write_timeout);
        case Wait::handler:
            break;
    }
    return std::chrono::milliseconds(0);
}

Connection::Connection(Desk& desk, Transport transport, std::string address)
    : desk_(desk),
      transport_(std::move(transport)),
      address_(std::move(address)),
      stream_(desk.office.limits, desk.buffers, desk.office.bodies) {
    stream_.head().request.remote_address = address_;
    if (desk.office.trusted_proxies.empty()) return;
    const auto peer = parse_address(address_);
    if (peer && desk.office.trusted_proxies.contains(*peer)) proxy_ = peer;
}

Connection::~Connection() {
    desk_.office.connections_open.fetch_sub(1, std::memory_order_relaxed);
}

void Connection::settle_at(Place place) {
    place_ = place;
    deadline_ = desk_.now + desk_.timeout(Wait::idle);
    if (transport_.is_handshaking()) wait_for(Wait::head);
}

void Connection::on_events(std::uint32_t events) {
    if ((events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) readable_ = true;
    if ((events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) hang_up_ = true;
    if ((events & EPOLLOUT) != 0) blocked_ = false;
    reads_ = 0;
    advance();
}

// Goes on as far as possible. The last thing it does may be to end this object.
void Connection::advance() {
    if (handling_) return;
    if (transport_.is_handshaking()) shake_hands();
    if (lingering_) {
        discard_input();
    } else if (!transport_.is_handshaking()) {
        pump();
    }
    if (handling_) return start_handler();
    rest();
}

void Connection::shake_hands() {
    if (gone_) return;
    switch (transport_.shake_hands()) {
        case Flow::moved:
            if (too_many_) refuse(too_many);
            break;
        case Flow::unreadable:
            readable_ = false;
            break;
        case Flow::unwritable:
            break;
        case Flow::not_tls:
            refuse({&errors::tls_expected, "Use the same URL with https instead of http."});
            break;
        case Flow::ended:
            desk_.handshakes_failed.add();
            gone_ = true;
            break;
    }
}

void Connection::pump() {
    if (has_output()) flush();
    while (!handling_ && !blocked_ && !gone_ && !closing_) {
        switch (stream_.next()) {
            case RequestStream::Event::request:
                take_request();
                break;
            case RequestStream::Event::refused:
                refuse(stream_.refusal());
                break;
            case RequestStream::Event::send_continue:
                out_.append("HTTP/1.1 100 Continue\r\n\r\n");
                break;
            case RequestStream::Event::need_more:
                flush();
                if (blocked_ || gone_) break;
                if (!receive()) return;
                break;
        }
        if (unflushed_ >= desk_.options.pipelined_max || out_.size() > output_max) flush();
    }
    if (!gone_ && has_output()) flush();
    if (closing_ && !blocked_ && !gone_) begin_close();
}

// False when there is nothing to read now.
bool Connection::receive() {
    if (!readable_) return false;
    if (++reads_ > reads_per_turn_max) {
        // Raises a new event at once: the socket can be written.
        desk_.poller.change(descriptor(), connection_events, *this);
        return false;
    }
    const Transfer got = transport_.receive(stream_.prepare());
    if (got.flow == Flow::moved) {
        stream_.commit(got.bytes);
        readable_ = hang_up_ || got.more;
        return true;
    }
    // TLS may have to write before it can read on.
    if (got.flow == Flow::unwritable) {
        blocked_ = true;
        return false;
    }
    readable_ = false;
    // The end, or an error: whatever is incomplete stays so.
    if (got.flow == Flow::ended) gone_ = true;
    return false;
}

void Connection::take_request() {
    Request& request = stream_.head().request;
    request.secure = transport_.is_secure();
    if (proxy_) name_client(request);
    desk_.scratch.clear();
    if (desk_.dispatcher.answer_at_once(desk_.core, request, desk_.scratch, route_)) {
        finish_response(desk_.scratch);
    } else {
        handling_ = true;
        wait_for(Wait::handler);
    }
}

// The peer is a proxy: takes its word on who asks.
void Connection::name_client(Request& request) {
    const Origin origin = find_origin(request, *proxy_, desk_.office.trusted_proxies);
    client_.assign(AddressText(origin.address).view());
    request.remote_address = client_;
    request.secure = origin.secure.value_or(request.secure);
    request.from_proxy = true;
}

void Connection::append(const Response& response, const Delivery& delivery) {
    if (out_.capacity() < desk_.spare_out.capacity() && out_.empty()) out_.swap(desk_.spare_out);
    append_response(out_, response, delivery, desk_.date);
    ++unflushed_;
}

void Connection::finish_response(Response& response) {
    const Head& head = stream_.head();
    if (response.is_compressible()) compress_body(head.request, response, desk_.compressor);
    const bool keep_alive = head.keep_alive && !desk_.draining;
    append(response, {.head_only = head.request.method == Method::head,
                      .keep_alive = keep_alive,
                      .http_1_0 = head.http_1_0});
    ++progress_;
    stream_.consume();
    if (!keep_alive) closing_ = true;
}

void Connection::refuse(const Refusal& refusal) {
    desk_.refused.add();
    if (refusal.type == &errors::bodies_exhausted) desk_.bodies_refused.add();
    desk_.scratch.clear();
    answer_refusal(desk_.core, refusal, desk_.scratch);
    append(desk_.scratch, {.head_only = false, .keep_alive = false, .http_1_0 = false});
    closing_ = refused_ = true;
}

void Connection::flush() {
    while (has_output()) {
        const Transfer sent = transport_.send(std::string_view(out_).substr(written_));
        if (sent.flow == Flow::moved) {
            ++progress_;
            written_ += sent.bytes;
            continue;
        }
        if (sent.flow == Flow::unwritable) {
            blocked_ = true;
        } else {
            gone_ = true;
        }
        return;
    }
    out_.clear();
    written_ = unflushed_ = 0;
    if (out_.capacity() > desk_.spare_out.capacity() && out_.capacity() <= spare_output_max) {
        out_.swap(desk_.spare_out);
    } else if (out_.capacity() > spare_output_max) {
        out_ = std::string();
    }
}

// Everything is written. A client that still sends would lose the answer to a reset, so it is
// listened to until it ends.
void Connection::begin_close() {
    const bool may_send_more = refused_ || stream_.phase() != RequestStream::Phase::between;
    stream_.release();
    transport_.say_goodbye();
    discard_input();
    if (gone_ || (!may_send_more && discarded_ == 0)) {
        gone_ = true;
        return;
    }
    ::shutdown(descriptor(), SHUT_WR);
    lingering_ = true;
}

void Connection::discard_input() {
    std::array<char, discarded_per_read> nowhere{};
    while (readable_ && !gone_) {
        const ssize_t count = ::recv(descriptor(), nowhere.data(), nowhere.size(), 0);
        if (count > 0) {
            discarded_ += static_cast<std::size_t>(count);
            if (discarded_ > discarded_max) gone_ = true;
            continue;
        }
        if (count < 0 && errno == EINTR) continue;
        readable_ = false;
        if (count == 0 || (errno != EAGAIN && errno != EWOULDBLOCK)) gone_ = true;
    }
}

// Nothing can be done now: says what it waits for, or ends it.
void Connection::rest() {
    if (gone_) return remove();
    if (lingering_) return wait_for(Wait::linger);
    if (transport_.is_handshaking()) {
        if (desk_.draining) return remove();
        return wait_for(Wait::head);
    }
    if (blocked_) return wait_for(Wait::write);
    switch (stream_.phase()) {
        case RequestStream::Phase::between:
            if (desk_.draining) return remove();
            stream_.release();
            return wait_for(Wait::idle);
        case RequestStream::Phase::head:
            return wait_for(Wait::head);
        case RequestStream::Phase::body:
            return wait_for(Wait::body);
    }
}

// A wait goes on from where it began, whatever trickles in, until a request is answered or
// something is written.
void Connection::wait_for(Wait wait) {
    if (wait == wait_ && waiting_since_ == progress_) return;
    auto& to = desk_.waiting(wait);
    to.splice(to.end(), desk_.waiting(wait_), place_);
    wait_ = wait;
    waiting_since_ = progress_;
    deadline_ = desk_.now + desk_.timeout(wait);
}

void Connection::on_timeout() {
    const bool is_listening = !transport_.is_handshaking();
    if (is_listening && (wait_ == Wait::head || wait_ == Wait::body)) {
        refuse(
            {&errors::request_timeout, "Send requests in one go, on a connection that carries."});
        return advance();
    }
    if (wait_ == Wait::write) {
        // Without this the kernel would go on to offer the rest to a client that does not read.
        const linger at_once{.l_onoff = 1, .l_linger = 0};
        ::setsockopt(descriptor(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    }
    abort();
}

void Connection::turn_away() {
    too_many_ = transport_.is_handshaking();
    if (too_many_) return;
    refuse(too_many);
    advance();
}

void Connection::drain() {
    readable_ = true;
    advance();
}

void Connection::abort() {
    gone_ = true;
    if (!blocked_) transport_.say_goodbye();
    ::shutdown(descriptor(), SHUT_RDWR);
    if (!handling_) remove();
}

void Connection::remove() {
    gone_ = true;
    if (parked_.filled()) return parked_(runtime::Wake::ready);
    // A coroutine that runs now ends by itself and comes back here.
    if (has_coroutine_) return;
    transport_.say_goodbye();
    desk_.waiting(wait_).erase(place_);
}

void Connection::start_handler() {
    if (parked_.filled()) return parked_(runtime::Wake::ready);
    if (has_coroutine_) return;
    has_coroutine_ = true;
    desk_.tasks.spawn("http.connection", serve());
}

boost::asio::awaitable<void> Connection::serve() {
    std::exception_ptr failure;
    try {
        co_await serve_each();
    } catch (...) {
        // Only the cancellation of a core that is being stopped comes so far.
        failure = std::current_exception();
    }
    has_coroutine_ = handling_ = false;
    remove();
    if (failure) std::rethrow_exception(failure);
}

// The requests that need waiting, one after the other.
boost::asio::awaitable<void> Connection::serve_each() {
    while (!gone_) {
        TENON_ASSERT(handling_);
        response_.clear();
        co_await desk_.dispatcher.answer(desk_.core, stream_.head().request, response_, route_);
        desk_.read_clocks();
        handling_ = false;
        if (gone_) co_return;
        finish_response(response_);
        advance();
        if (handling_ || gone_) continue;
        static_cast<void>(co_await park());
    }
}

}  // namespace tenon::http
