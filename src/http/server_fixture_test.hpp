// A real server on a free port, and a client that sends raw bytes; for tests.
#pragma once

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "http/endpoint.hpp"
#include "http/errors.hpp"
#include "http/identity.hpp"
#include "http/server.hpp"
#include "runtime/core.hpp"

namespace tenon::http::testing {

/// Knows the keys "all" (every scope), "reader" (things:read) and "user" (an end user, scope "*");
/// throws for "broken".
class KnownKeys final : public Authenticator {
public:
    boost::asio::awaitable<base::Result<Identity>> identify(runtime::Call& call,
                                                            std::string_view bearer) override;
};

/// What a client got.
struct Answer {
    int status = 0;
    std::string head;  ///< status line and headers
    std::string body;

    [[nodiscard]] std::string header(std::string_view name) const;
};

/// Takes the first response off `received`; nullopt while it is incomplete.
[[nodiscard]] std::optional<Answer> take_answer(std::string& received, bool head_only = false);

/// A blocking client that sends what it is told, byte for byte.
class Client {
public:
    explicit Client(std::uint16_t port, const std::string& address = "127.0.0.1");
    void send(std::string_view bytes);
    /// The next response; a status of 0 when the server closed first.
    [[nodiscard]] Answer receive(bool head_only = false);
    [[nodiscard]] Answer ask(std::string_view bytes, bool head_only = false) {
        send(bytes);
        return receive(head_only);
    }
    /// Everything until the server closes.
    [[nodiscard]] std::string receive_all();
    /// True when the server closes without sending anything more.
    [[nodiscard]] bool is_closed() { return received_.empty() && receive_all().empty(); }
    void shutdown_send();
    void set_receive_buffer(int bytes);
    [[nodiscard]] boost::asio::ip::tcp::socket& socket() { return socket_; }

private:
    bool fill();

    boost::asio::io_context io_;
    boost::asio::ip::tcp::socket socket_;
    std::string received_;
};

/// A server with the endpoints that a test adds.
class ServerTest : public ::testing::Test {
protected:
    ServerTest();
    ~ServerTest() override;
    void start();
    [[nodiscard]] std::uint16_t port() const { return server_->port(); }

    base::SystemClock clock_;
    runtime::Cores cores_{2, clock_};
    Router router_;
    KnownKeys keys_;
    ServerOptions options_;
    std::unique_ptr<Server> server_;
};

}  // namespace tenon::http::testing
