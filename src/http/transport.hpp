// The bytes of a connection: as they are, or within TLS.
#pragma once

#include <sys/socket.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "http/socket.hpp"
#include "http/tls.hpp"

namespace tenon::http {

/// A connection's socket, which does not block, and what is spoken on it.
///
/// Owns: both.
/// Cost: plain: one system call per transfer, and one branch.
class Transport {
public:
    /// `session` is null for a connection without TLS.
    Transport(Socket socket, std::unique_ptr<TlsSession> session)
        : socket_(std::move(socket)),
          session_(std::move(session)),
          handshaking_(session_ != nullptr) {}

    [[nodiscard]] int descriptor() const { return socket_.get(); }
    /// True until both sides have agreed; nothing may be received or sent before.
    [[nodiscard]] bool is_handshaking() const { return handshaking_; }
    [[nodiscard]] bool is_secure() const { return session_ != nullptr; }

    /// Goes on with the handshake. Flow::not_tls: the client speaks something else, and from now
    /// on this does too.
    [[nodiscard]] Flow shake_hands();

    /// Expects: `room` is not empty.
    [[nodiscard]] Transfer receive(std::span<char> room) {
        if (session_) return session_->receive(room);
        for (;;) {
            const ssize_t count = ::recv(socket_.get(), room.data(), room.size(), 0);
            if (count > 0) {
                const auto bytes = static_cast<std::size_t>(count);
                // A short read has emptied the socket, and the next bytes raise a new event
                // (epoll(7)).
                return {.flow = Flow::moved, .bytes = bytes, .more = bytes == room.size()};
            }
            if (count == 0 || errno != EINTR) return stopped(count, Flow::unreadable);
        }
    }

    [[nodiscard]] Transfer send(std::string_view bytes) {
        if (session_) return session_->send(bytes);
        for (;;) {
            const ssize_t count = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (count >= 0) return {.flow = Flow::moved, .bytes = static_cast<std::size_t>(count)};
            if (errno != EINTR) return stopped(count, Flow::unwritable);
        }
    }

    /// Tells the client that nothing more will come; once, and without waiting.
    void say_goodbye() {
        if (session_ && !handshaking_) session_->say_goodbye();
    }

private:
    static Transfer stopped(ssize_t count, Flow later) {
        const bool waits = count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
        return {.flow = waits ? later : Flow::ended};
    }

    Socket socket_;
    std::unique_ptr<TlsSession> session_;
    bool handshaking_;
};

}  // namespace tenon::http
