// What this room's tests with a server share; included by tests only.
#pragma once

#include <gtest/gtest.h>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>

#include "base/clock.hpp"
#include "redis/client.hpp"
#include "runtime/core.hpp"
#include "runtime/test_proxy.hpp"

namespace tenon::redis::testing {

/// Options for the server of the tests, patient enough for a slow machine.
inline ClientOptions patient_options() {
    const char* address = std::getenv("TENON_TEST_REDIS");
    if (address == nullptr) {
        throw std::runtime_error("TENON_TEST_REDIS is not set: run this by scripts/with-engines");
    }
    ClientOptions options;
    options.address = address;
    options.connect_timeout = std::chrono::seconds(10);
    options.command_timeout = std::chrono::seconds(20);
    return options;
}

/// Runs a coroutine on a core of its own until all that it started has ended.
template <class Body>
void on_a_core(Body body) {
    base::SystemClock clock;
    runtime::Core core(0, clock);
    std::exception_ptr failure;
    boost::asio::co_spawn(core.io(), body(core),
                          [&failure](std::exception_ptr ended) { failure = std::move(ended); });
    core.io().run();
    if (failure) std::rethrow_exception(failure);
}

/// A call with time enough for any test.
inline runtime::Call make_call(runtime::Core& core) {
    return core.make_call(std::chrono::seconds(30));
}

/// A proxy before the server that `target` names, for clients that are to meet faults.
class ProxyTo : public runtime::Proxy {
public:
    ProxyTo(runtime::Core& core, const std::string& target, std::uint64_t seed = 1)
        : Proxy(core, at_path(target.substr(target.find('/'))), at_port(0), seed) {}

    [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(port()); }
};

/// A client that is up, with what a test asks of it in one line.
class Line {
public:
    Line(runtime::Core& core, ClientOptions options)
        : call_(make_call(core)), client_(core, std::move(options)) {}

    boost::asio::awaitable<void> open() { return client_.wait_up(call_); }
    boost::asio::awaitable<Reply> ask(std::vector<std::string> words) {
        return client_.command(call_, "", std::move(words));
    }
    boost::asio::awaitable<void> close() { return client_.close(call_); }
    Client& client() { return client_; }
    runtime::Call& call() { return call_; }

private:
    runtime::Call call_;
    Client client_;
};

}  // namespace tenon::redis::testing
