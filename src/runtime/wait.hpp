// Pauses, events and work on another core: the waits that Asio leaves to its users.
#pragma once

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/assert.hpp"
#include "runtime/call.hpp"
#include "runtime/core.hpp"
#include "runtime/failure.hpp"
#include "runtime/report.hpp"
#include "runtime/wait_list.hpp"

namespace tenon::runtime {

/// Suspends for `time`, or until cancelled: then throws system_error(operation_aborted).
boost::asio::awaitable<void> pause_for(std::chrono::nanoseconds time);
/// Suspends until `instant`; the same otherwise.
boost::asio::awaitable<void> pause_until(Deadline instant);

/// Something that happens once, until it is reset.
///
/// Threads: its core only; from elsewhere, post a set() to its core.
class Event {
public:
    explicit Event(boost::asio::io_context& io) : waits_(io) {}

    /// Wakes all who wait and lets all who come pass.
    void set() {
        set_ = true;
        waits_.wake_all();
    }
    void reset() { set_ = false; }
    [[nodiscard]] bool is_set() const { return set_; }
    /// Returns when set. Errors: DeadlineExceeded by the call's deadline.
    boost::asio::awaitable<void> wait(Call& call) { return wait(call.deadline); }
    boost::asio::awaitable<void> wait(Deadline deadline = Deadline::max());

private:
    WaitList waits_;
    bool set_ = false;
};

/// Counts down to zero and then lets all pass.
///
/// Threads: its core only.
class Latch {
public:
    Latch(boost::asio::io_context& io, std::size_t count) : zero_(io), count_(count) {
        if (count == 0) zero_.set();
    }
    /// Expects: the count is not zero.
    void count_down() {
        TENON_ASSERT(count_ > 0);
        if (--count_ == 0) zero_.set();
    }
    [[nodiscard]] std::size_t count() const { return count_; }
    /// Returns at zero. Errors: DeadlineExceeded by the call's deadline.
    boost::asio::awaitable<void> wait(Call& call) { return zero_.wait(call.deadline); }
    boost::asio::awaitable<void> wait() { return zero_.wait(); }

private:
    Event zero_;
    std::size_t count_;
};

/// What a coroutine of type T leaves, as something that can be kept.
template <class T>
using Kept = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

/// A coroutine that another one waits for, and the one that waits.
///
/// Owns:    itself belongs to the completion handler of the coroutine that runs, so that whoever
///          destroys that one also destroys the one that waits.
/// Threads: `signal` is for the running one's core; the rest for the waiting one's, and for the
///          running one's when it ends.
template <class T>
struct Joined {
    Resume resume;
    boost::asio::cancellation_signal signal;
    std::exception_ptr failure;
    std::optional<Kept<T>> value;
    bool expired = false;

    T take() {
        if (failure) std::rethrow_exception(std::move(failure));
        if constexpr (!std::is_void_v<T>) return std::move(*value);
    }
};

/// Runs `work` and keeps its outcome in `joined`.
///
/// The exception is caught here and not by co_spawn, which would hold on to it in the frame of its
/// own thread while another thread already reads it.
template <class T>
boost::asio::awaitable<void> keep_outcome(boost::asio::awaitable<T> work, Joined<T>& joined) {
    try {
        if constexpr (std::is_void_v<T>) {
            co_await std::move(work);
        } else {
            joined.value.emplace(co_await std::move(work));
        }
    } catch (...) {
        joined.failure = std::current_exception();
    }
}

/// Spawns `work` on `executor` with `joined` as its owner; `then` gets it when `work` has ended.
template <class T, class Executor, class Then>
void spawn_joined(const Executor& executor, boost::asio::awaitable<T> work,
                  std::shared_ptr<Joined<T>> joined, Then then) {
    auto slot = joined->signal.slot();
    auto kept = keep_outcome(std::move(work), *joined);
    auto ended = [joined = std::move(joined),
                  then = std::move(then)](std::exception_ptr unstarted) mutable {
        if (unstarted) joined->failure = std::move(unstarted);
        then(std::move(joined));
    };
    boost::asio::co_spawn(executor, std::move(kept),
                          boost::asio::bind_cancellation_slot(slot, std::move(ended)));
}

/// Runs `work` on `core` and gives its result here, on the caller's core.
///
/// Expects: both cores loop until it returns; `work` touches nothing that belongs to the caller's
///          core.
/// Cost:    two hops between threads.
/// Cancel:  is passed on to `work`; returns only when `work` has ended.
/// Errors:  what `work` throws.
template <class T>
boost::asio::awaitable<T> on_core(Core& core, boost::asio::awaitable<T> work) {
    namespace asio = boost::asio;
    const auto here = co_await asio::this_coro::executor;
    auto joined = std::make_shared<Joined<T>>();
    Joined<T>& outcome = *joined;
    co_await asio::async_initiate<const asio::deferred_t, void(Wake)>(
        [&](auto handler) {
            auto slot = asio::get_associated_cancellation_slot(handler);
            joined->resume.fill(std::move(handler));
            if (slot.is_connected()) {
                slot.assign([weak = std::weak_ptr(joined), &core](asio::cancellation_type type) {
                    asio::post(core.io(), [weak, type] {
                        if (const auto alive = weak.lock()) alive->signal.emit(type);
                    });
                });
            }
            spawn_joined(core.io().get_executor(), std::move(work), std::move(joined),
                         [here](std::shared_ptr<Joined<T>> ended) {
                             asio::post(here,
                                        [ended = std::move(ended)] { ended->resume(Wake::ready); });
                         });
        },
        asio::deferred);
    co_return outcome.take();
}

/// Runs `work` here, and cancels it when `deadline` passes.
///
/// Cancel:  is passed on to `work`; returns only when `work` has ended.
/// Errors:  DeadlineExceeded when `work` was cancelled by the deadline; else what `work` throws.
template <class T>
boost::asio::awaitable<T> until(Deadline deadline, boost::asio::awaitable<T> work) {
    namespace asio = boost::asio;
    const auto here = co_await asio::this_coro::executor;
    asio::steady_timer timer(here, deadline);
    auto joined = std::make_shared<Joined<T>>();
    Joined<T>& outcome = *joined;
    timer.async_wait([weak = std::weak_ptr(joined)](const boost::system::error_code& stopped) {
        const auto alive = weak.lock();
        if (stopped || !alive) return;
        alive->expired = true;
        alive->signal.emit(asio::cancellation_type::terminal);
    });
    co_await asio::async_initiate<const asio::deferred_t, void(Wake)>(
        [&](auto handler) {
            auto slot = asio::get_associated_cancellation_slot(handler);
            joined->resume.fill(std::move(handler));
            if (slot.is_connected()) {
                slot.assign([weak = std::weak_ptr(joined)](asio::cancellation_type type) {
                    if (const auto alive = weak.lock()) alive->signal.emit(type);
                });
            }
            spawn_joined(
                here, std::move(work), std::move(joined),
                [](const std::shared_ptr<Joined<T>>& ended) { ended->resume(Wake::ready); });
        },
        asio::deferred);
    if (outcome.expired && outcome.failure && is_cancellation(outcome.failure)) {
        throw DeadlineExceeded("the deadline passed before the work had ended");
    }
    co_return outcome.take();
}

}  // namespace tenon::runtime
