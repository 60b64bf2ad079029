// A core that a test turns by hand.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "runtime/core.hpp"
#include "runtime/wait.hpp"

namespace tenon::runtime {

/// One core without a thread of its own, for tests of everything that runs on a core.
///
/// Shape:   its clock stands at 2026-01-01 until moved; run() loops in the calling thread.
class TestCore {
public:
    TestCore() : clock(base::Time(std::chrono::sys_days(std::chrono::year(2026) / 1 / 1))) {}

    /// Loops until `work` has ended; gives its result or throws what it threw.
    ///
    /// Errors: std::runtime_error when nothing is left that could wake `work`.
    template <class T>
    T run(boost::asio::awaitable<T> work) {
        auto joined = std::make_shared<Joined<T>>();
        bool ended = false;
        std::shared_ptr<Joined<T>> outcome;
        spawn_joined(core.io().get_executor(), std::move(work), std::move(joined),
                     [&](std::shared_ptr<Joined<T>> done) {
                         ended = true;
                         outcome = std::move(done);
                     });
        core.io().restart();
        while (!ended) {
            if (core.io().run_one() == 0) throw std::runtime_error("the work waits for ever");
        }
        return outcome->take();
    }
    template <class T>
    T run(const std::function<boost::asio::awaitable<T>()>& work) {
        return run(work());
    }
    /// Runs what is ready now, without waiting.
    void turn() {
        core.io().restart();
        core.io().poll();
    }
    [[nodiscard]] Call call(std::chrono::nanoseconds limit = std::chrono::seconds(60)) {
        return core.make_call(limit);
    }

    base::ManualClock clock;
    Core core{0, clock};
};

/// What `work` threw, or null.
template <class T>
boost::asio::awaitable<std::exception_ptr> failure_of(boost::asio::awaitable<T> work) {
    try {
        co_await std::move(work);
        co_return nullptr;
    } catch (...) {
        co_return std::current_exception();
    }
}

/// True when `failure` is an Expected.
template <class Expected>
[[nodiscard]] bool is_a(const std::exception_ptr& failure) {
    if (!failure) return false;
    try {
        std::rethrow_exception(failure);
    } catch (const Expected&) {
        return true;
    } catch (...) {
        return false;
    }
}

}  // namespace tenon::runtime
