#include "http/server.hpp"

#include <algorithm>
#include <atomic>
#include <boost/asio/post.hpp>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <stdexcept>

#include "base/assert.hpp"
#include "http/cors.hpp"
#include "http/dispatch.hpp"
#include "http/listener.hpp"
#include "http/worker.hpp"
#include "runtime/log.hpp"
#include "runtime/metrics.hpp"

namespace tenon::http {

namespace {

Limits limits_of(const ServerOptions& options) {
    return {.header_bytes_max = options.header_bytes_max,
            .headers_max = options.headers_max,
            .target_bytes_max = options.target_bytes_max,
            .body_bytes_max = options.body_bytes_max};
}

// One body of the largest size must always be possible, with its head and what follows it.
std::size_t bodies_max(const ServerOptions& options) {
    constexpr std::size_t beside_a_body = 64 * 1024;
    return std::max(options.bodies_bytes_max,
                    options.body_bytes_max + options.header_bytes_max + beside_a_body);
}

// What was read from an option.
template <class T>
T accepted(base::Result<T> read) {
    if (!read) throw std::runtime_error(read.error().detail());
    return *std::move(read);
}

std::unique_ptr<Certificate> certificate_of(const ServerOptions& options) {
    if (options.tls_certificate.empty() && options.tls_key.empty()) return nullptr;
    return std::make_unique<Certificate>(
        CertificateFiles{.certificate = options.tls_certificate, .key = options.tls_key});
}

ServerOptions accepted(ServerOptions options) {
    for (const std::string& origin : options.cors_origins) {
        if (const auto refused = check_origin(origin)) throw std::runtime_error(refused->detail());
    }
    return options;
}

/// Waits, outside the cores, until all of them have done their part.
class Arrivals {
public:
    explicit Arrivals(std::size_t expected) : left_(expected) {}
    void arrive() {
        const std::lock_guard lock(guard_);
        if (--left_ == 0) all_.notify_all();
    }
    bool wait_for(std::chrono::milliseconds limit) {
        std::unique_lock lock(guard_);
        return all_.wait_for(lock, limit, [this] { return left_ == 0; });
    }
    void wait() {
        std::unique_lock lock(guard_);
        all_.wait(lock, [this] { return left_ == 0; });
    }

private:
    std::mutex guard_;
    std::condition_variable all_;
    std::size_t left_;
};

}  // namespace

struct Server::State {
    State(runtime::Cores& on, const Router& router, Authenticator& authenticator,
          ServerOptions given)
        : cores(on),
          options(accepted(std::move(given))),
          limits(limits_of(options)),
          trusted_proxies(accepted(Networks::parse(options.trusted_proxies))),
          certificate(certificate_of(options)),
          dispatcher(router, authenticator, options),
          bodies(bodies_max(options)) {
        for (std::size_t i = 0; i < cores.size(); ++i) {
            workers.push_back(std::make_unique<Worker>(cores[i], office));
        }
        if (certificate) {
            certificate_reading = runtime::metrics().reading(
                {.name = "tenon_http_certificate_valid_until_seconds",
                 .help = "When the certificate ends, in seconds since 1970."},
                [this] {
                    const auto until = certificate->valid_until().time_since_epoch();
                    return static_cast<double>(until.count());
                });
        }
    }

    // Posts, so that it works whether or not the cores run already.
    template <class Work>
    void on_each_worker(Work work) {
        for (const auto& worker : workers) {
            boost::asio::post(worker->core().io(), [work, each = worker.get()] { work(*each); });
        }
    }

    runtime::Cores& cores;
    ServerOptions options;
    Limits limits;
    Networks trusted_proxies;
    std::unique_ptr<Certificate> certificate;
    Dispatcher dispatcher;
    std::atomic<std::size_t> connections_open{0};
    BodyBudget bodies;
    const Office office{.dispatcher = dispatcher,
                        .options = options,
                        .limits = limits,
                        .trusted_proxies = trusted_proxies,
                        .certificate = certificate.get(),
                        .connections_open = connections_open,
                        .bodies = bodies};
    std::vector<std::unique_ptr<Worker>> workers;
    std::uint16_t port = 0;
    bool started = false;
    runtime::Reading open_reading = runtime::metrics().reading(
        {.name = "tenon_http_connections", .help = "Open connections of clients."},
        [this] { return static_cast<double>(connections_open.load()); });
    runtime::Reading bodies_reading = runtime::metrics().reading(
        {.name = "tenon_http_bodies_bytes",
         .help = "Memory held for request bodies, of http.bodies_bytes_max."},
        [this] { return static_cast<double>(bodies.held()); });
    std::optional<runtime::Reading> certificate_reading;
};

Server::Server(runtime::Cores& cores, const Router& router, Authenticator& authenticator,
               ServerOptions options)
    : state_(std::make_unique<State>(cores, router, authenticator, std::move(options))) {}

Server::~Server() {
    if (state_->started) drain(std::chrono::milliseconds(0));
}

void Server::listen() {
    Listening listening =
        listen_on(state_->options.addresses, state_->options.port, state_->cores.size());
    for (std::size_t i = 0; i < state_->workers.size(); ++i) {
        state_->workers[i]->take_listeners(std::move(listening.sockets[i]));
    }
    state_->port = listening.port;
}

std::uint16_t Server::port() const {
    return state_->port;
}

void Server::start() {
    TENON_ASSERT(!state_->started);
    state_->started = true;
    state_->on_each_worker([](Worker& worker) { worker.start(); });
}

void Server::drain(std::chrono::milliseconds limit) {
    if (!state_->started) return;
    state_->started = false;
    Arrivals drained(state_->workers.size());
    state_->on_each_worker(
        [&drained](Worker& worker) { worker.drain([&drained] { drained.arrive(); }); });
    if (!drained.wait_for(limit)) {
        runtime::log(runtime::Level::warning, "Connections were cut after the time to drain.",
                     {{"open", state_->connections_open.load()}});
        state_->on_each_worker([](Worker& worker) { worker.abort(); });
        drained.wait();
    }
    Arrivals stopped(state_->workers.size());
    state_->on_each_worker(
        [&stopped](Worker& worker) { worker.stop([&stopped] { stopped.arrive(); }); });
    stopped.wait();
}

}  // namespace tenon::http
