// Many who want the same at once share one load.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "runtime/call.hpp"
#include "runtime/core.hpp"
#include "runtime/failure.hpp"
#include "runtime/report.hpp"
#include "runtime/span.hpp"
#include "runtime/task_group.hpp"
#include "runtime/wait.hpp"

namespace tenon::runtime {

/// Bounds of a SingleFlight.
struct FlightOptions {
    /// How long a load may run, whoever waits for it; then it is cancelled.
    std::chrono::milliseconds run_limit{5'000};
    std::size_t flights_max = 65'536;  ///< keys that load at once; one more is refused
};

/// Runs one load per key at a time and gives its outcome to all who asked meanwhile.
///
/// Shape:   who comes after a load has ended, or after invalidate(), starts a new one. A load that
///          was invalidated still answers those who asked before, but its value is not stored.
/// Expects: Value is copyable; the owner awaits close() before destruction.
/// Threads: its core only.
/// Cancel:  a waiter leaves by its own deadline or cancellation, and the load goes on.
/// Errors:  the load's own exception to every waiter; DeadlineExceeded by the waiter's own deadline
///          or by run_limit; Unavailable when full or closed.
/// Source:  F64, F66.
template <class Key, class Value, class Hash = std::hash<Key>>
class SingleFlight {
public:
    using Options = FlightOptions;
    /// Makes the value; owns what it needs, since all who asked may leave before it ends.
    using Load = std::function<boost::asio::awaitable<Value>(Call&)>;
    /// Keeps a value for later askers; called once per load that succeeded and was not voided.
    using Store = std::function<void(const Key&, const Value&)>;

    SingleFlight(Core& core, Options options, Store store = {})
        : core_(core), options_(options), store_(std::move(store)), tasks_(core.io()) {}

    /// The value of `key`, by a load that began after the last invalidation of it.
    boost::asio::awaitable<Value> get(Call& call, Key key, Load load) {
        const std::shared_ptr<Flight> flight = join(call, std::move(key), std::move(load));
        if (!flight->ended.is_set()) co_await flight->ended.wait(call);
        if (flight->failure) std::rethrow_exception(flight->failure);
        co_return *flight->value;
    }

    /// Voids the running load of `key`: its value is not stored, and the next get() loads anew.
    void invalidate(const Key& key) {
        const auto found = flights_.find(key);
        if (found == flights_.end()) return;
        found->second->voided = true;
        flights_.erase(found);
    }
    void invalidate_all() {
        for (auto& [key, flight] : flights_) flight->voided = true;
        flights_.clear();
    }
    /// Loads that run, voided ones too.
    [[nodiscard]] std::size_t size() const { return tasks_.size(); }

    /// Refuses new loads, cancels those that run and returns when they have ended.
    boost::asio::awaitable<void> close() {
        closed_ = true;
        tasks_.cancel();
        co_await tasks_.join();
    }

private:
    struct Flight {
        explicit Flight(boost::asio::io_context& io) : ended(io) {}
        Event ended;
        std::optional<Value> value;
        std::exception_ptr failure;
        bool voided = false;
    };

    std::shared_ptr<Flight> join(const Call& call, Key key, Load load) {
        if (call.expired()) throw DeadlineExceeded("the deadline passed before a load was joined");
        if (closed_) throw Unavailable("the loads are closed", std::chrono::seconds(1));
        if (const auto found = flights_.find(key); found != flights_.end()) return found->second;
        if (tasks_.size() >= options_.flights_max) {
            throw Unavailable("too many loads at once", std::chrono::seconds(1));
        }
        auto flight = std::make_shared<Flight>(core_.io());
        flights_.emplace(key, flight);
        tasks_.spawn("load",
                     fly(flight, std::move(key), std::move(load), call.priority, call.trace));
        return flight;
    }

    boost::asio::awaitable<void> fly(std::shared_ptr<Flight> flight, Key key, Load load,
                                     Priority priority, Trace starter) {
        Call call = core_.make_call(options_.run_limit);
        call.priority = priority;
        follow(call, starter);
        try {
            flight->value.emplace(co_await until(call.deadline, load(call)));
            if (!flight->voided && store_) store_(key, *flight->value);
        } catch (...) {
            flight->failure = std::current_exception();
            // Only close() cancels a load, and those who wait were not cancelled themselves.
            if (is_cancellation(flight->failure)) {
                flight->failure = std::make_exception_ptr(
                    Unavailable("the load was cancelled", std::chrono::seconds(1)));
            }
        }
        // Those who come from now on start anew; a voided flight has left the map already, and
        // another may have its place.
        if (!flight->voided) flights_.erase(key);
        flight->ended.set();
    }

    Core& core_;
    const Options options_;
    const Store store_;
    std::unordered_map<Key, std::shared_ptr<Flight>, Hash> flights_;
    bool closed_ = false;
    TaskGroup tasks_;
};

}  // namespace tenon::runtime
