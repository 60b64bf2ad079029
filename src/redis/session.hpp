// A socket to a node that has let us in.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "redis/options.hpp"
#include "redis/reply.hpp"

namespace tenon::redis {

/// The one place that knows what carries the bytes; TLS would be here.
using Socket = boost::asio::generic::stream_protocol::socket;

/// An authenticated connection.
struct Session {
    Socket socket;
    /// The server's own name for this connection (CLIENT ID), which CLIENT TRACKING's REDIRECT
    /// takes; 0 when the account may not ask.
    std::int64_t client_id = 0;
};

/// Connects, authenticates, names the connection `name` and sees a PING answered.
///
/// Expects: `options` outlives the call.
/// Cost:    two round trips with the connecting.
/// Cancel:  closes the socket; a look-up of a host name is waited for.
/// Errors:  Unavailable, which says what the server or the system said; DeadlineExceeded after
///          options.connect_timeout.
boost::asio::awaitable<Session> open_session(boost::asio::io_context& io,
                                             const ClientOptions& options, std::string name);

/// The commands that begin a session, and what their replies mean. Pure.
[[nodiscard]] std::vector<std::vector<std::string>> greeting(const ClientOptions& options,
                                                             const std::string& name);
/// Gives the client's id. Errors: Unavailable when a reply refuses us.
[[nodiscard]] std::int64_t read_greeting(const std::vector<Reply>& replies);

}  // namespace tenon::redis
