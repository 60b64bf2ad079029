// A libpq connection and the means to wait for its socket.
#pragma once

#include <libpq-fe.h>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstdint>
#include <memory>
#include <string>

#include "postgres/startup.hpp"
#include "runtime/call.hpp"

namespace tenon::postgres {

/// An open connection, non-blocking, not yet in pipeline mode.
///
/// Owns: the connection, and a duplicate of its socket's descriptor to wait on, since libpq closes
///       its own.
class Link {
public:
    /// Connects without ever blocking the core, to the first host that is a primary on a timeline
    /// not older than any met before.
    ///
    /// Errors: runtime::Unavailable (repeat) with the server's or the system's reason, also when
    ///         `deadline` passes.
    static boost::asio::awaitable<Link> open(boost::asio::io_context& io, const Startup& startup,
                                             runtime::Deadline deadline);

    [[nodiscard]] PGconn* get() const { return connection_.get(); }
    [[nodiscard]] boost::asio::posix::stream_descriptor& socket() { return socket_; }
    /// What libpq says went wrong, on one line.
    [[nodiscard]] std::string complaint() const;
    /// True when a newer timeline of its server was met since: it leads to a primary that was
    /// replaced.
    [[nodiscard]] bool is_replaced() const { return timeline_ && met_ < timeline_->newest(); }
    /// Ends the connection at once; the server sees it closed.
    void close();

private:
    using Descriptor = boost::asio::posix::stream_descriptor;
    struct Finish {
        void operator()(PGconn* connection) const { PQfinish(connection); }
    };

    explicit Link(boost::asio::io_context& io) : socket_(io) {}
    void start(const Startup& startup);
    boost::asio::awaitable<void> connect(boost::asio::io_context& io, const Startup& startup);
    boost::asio::awaitable<void> shake_hands();
    boost::asio::awaitable<std::int32_t> read_timeline();
    void watch();

    std::shared_ptr<Timeline> timeline_;  ///< null: its server's is not watched
    std::int32_t met_ = 0;                ///< the timeline it is on
    std::unique_ptr<PGconn, Finish> connection_;
    Descriptor socket_;  ///< destroyed first: the event loop lets go before libpq closes
};

}  // namespace tenon::postgres
