// HTTP/1.1 on every core: keep-alive, pipelining, bounds on everything a client sends.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "http/endpoint.hpp"
#include "http/identity.hpp"
#include "runtime/core.hpp"

namespace tenon::http {

/// What a server listens on and what it lets its clients do.
struct ServerOptions {
    std::vector<std::string> addresses{"127.0.0.1", "::1"};
    std::uint16_t port = 8080;  ///< 0: any free port, the same for all addresses
    /// Networks of the proxies whose word on the client counts, as Networks::parse reads them.
    std::vector<std::string> trusted_proxies{};
    /// Origins whose pages may call from a browser, as check_origin wants them; none: off.
    std::vector<std::string> cors_origins{};
    /// PEM files; both or none. With them every address speaks TLS only. See Certificate.
    std::string tls_certificate{};
    std::string tls_key{};
    std::size_t header_bytes_max = 16 * 1024;
    std::size_t headers_max = 100;
    std::size_t target_bytes_max = 8 * 1024;  ///< path and query
    std::size_t body_bytes_max = 1024 * 1024;
    /// Memory for bodies, per process; over it requests are refused with 503. Always enough for one
    /// body of body_bytes_max. Bodies that fit the 20 KiB that every connection may hold count not.
    std::size_t bodies_bytes_max = 256 * 1024 * 1024;
    std::size_t connections_max = 10'000;              ///< per process
    std::size_t pipelined_max = 64;                    ///< requests answered per write
    std::chrono::milliseconds header_timeout{10'000};  ///< from a request's first byte
    std::chrono::milliseconds body_timeout{30'000};
    std::chrono::milliseconds idle_timeout{75'000};     ///< between requests
    std::chrono::milliseconds write_timeout{10'000};    ///< a client that does not read
    std::chrono::milliseconds request_timeout{10'000};  ///< the default deadline of an endpoint
};

/// Accepts on every core (SO_REUSEPORT) and answers by the router.
class Server {
public:
    /// Errors: throws std::runtime_error with a sentence when an option or a file that it names is
    ///         refused.
    Server(runtime::Cores& cores, const Router& router, Authenticator& authenticator,
           ServerOptions options);
    /// Expects: drained, or never started, or the cores still run.
    ~Server();
    /// Binds and listens; throws with the port and who holds it when it is taken.
    void listen();
    [[nodiscard]] std::uint16_t port() const;
    /// Begins to accept.
    void start();
    /// Stops accepting, finishes requests in flight (Connection: close), ends idle connections; at
    /// most `limit`, then closes what is left. Blocking; not from a core's thread.
    void drain(std::chrono::milliseconds limit);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace tenon::http
