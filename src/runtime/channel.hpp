// A bounded queue between coroutines of one core.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <deque>
#include <optional>
#include <utility>

#include "base/assert.hpp"
#include "runtime/call.hpp"
#include "runtime/wait_list.hpp"

namespace tenon::runtime {

/// Hands items from stage to stage and holds back the faster one.
///
/// Shape:   holds at most `capacity` items; first in, first out, also among those who wait.
/// Threads: its core only.
/// Cost:    O(1); items of suspended pushers lie in their own frames.
/// Cancel:  a cancelled push has not pushed, a cancelled pop has taken nothing.
template <class T>
class Channel {
public:
    /// Expects: capacity > 0.
    Channel(boost::asio::io_context& io, std::size_t capacity)
        : capacity_(capacity), pushers_(io), poppers_(io) {
        TENON_ASSERT(capacity > 0);
    }

    /// Waits for room. False, and the item is dropped, when the channel is closed.
    ///
    /// Errors: DeadlineExceeded by the call's deadline.
    boost::asio::awaitable<bool> push(Call& call, T item) {
        if (closed_) co_return false;
        if (try_push(item)) co_return true;
        Pusher pusher(call.deadline, std::move(item));
        const Wake wake = co_await pushers_.suspend(pusher);
        expect_ready(wake, "room in a channel");
        co_return pusher.pushed;
    }

    /// Moves from `item` only when it returns true; false when full or closed.
    [[nodiscard]] bool try_push(T& item) {
        if (closed_) return false;
        if (Waiter* const waiter = poppers_.front()) {
            static_cast<Popper*>(waiter)->item.emplace(std::move(item));
            poppers_.wake(*waiter);
            return true;
        }
        if (items_.size() >= capacity_) return false;
        items_.push_back(std::move(item));
        return true;
    }
    [[nodiscard]] bool try_push(T&& item) { return try_push(item); }

    /// Waits for an item; nullopt when the channel is closed and drained.
    ///
    /// Errors: DeadlineExceeded by the call's deadline.
    boost::asio::awaitable<std::optional<T>> pop(Call& call) {
        if (!items_.empty()) co_return try_pop();
        if (closed_) co_return std::nullopt;
        Popper popper(call.deadline);
        const Wake wake = co_await poppers_.suspend(popper);
        expect_ready(wake, "an item of a channel");
        co_return std::move(popper.item);
    }

    /// The oldest item, or nullopt when there is none.
    [[nodiscard]] std::optional<T> try_pop() {
        if (items_.empty()) return std::nullopt;
        std::optional<T> item(std::move(items_.front()));
        items_.pop_front();
        if (Waiter* const waiter = pushers_.front()) {
            auto& pusher = *static_cast<Pusher*>(waiter);
            items_.push_back(std::move(pusher.item));
            pusher.pushed = true;
            pushers_.wake(pusher);
        }
        return item;
    }

    /// Refuses new items, those of suspended pushers too; what it holds can still be popped.
    void close() {
        closed_ = true;
        pushers_.wake_all();
        poppers_.wake_all();
    }
    [[nodiscard]] bool closed() const { return closed_; }
    [[nodiscard]] std::size_t size() const { return items_.size(); }

private:
    struct Pusher : Waiter {
        Pusher(Deadline until, T&& given) : Waiter(until), item(std::move(given)) {}
        T item;
        bool pushed = false;
    };
    struct Popper : Waiter {
        using Waiter::Waiter;
        std::optional<T> item;
    };

    const std::size_t capacity_;
    std::deque<T> items_;
    WaitList pushers_;
    WaitList poppers_;
    bool closed_ = false;
};

}  // namespace tenon::runtime
