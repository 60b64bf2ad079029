// Coroutines of one core that wait for something, each until its own deadline.
#pragma once

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/intrusive/list.hpp>
#include <memory>

#include "runtime/call.hpp"
#include "runtime/resume.hpp"

namespace tenon::runtime {

/// One suspended coroutine. Lives in that coroutine's frame and leaves its list with it.
class Waiter : public boost::intrusive::list_base_hook<
                   boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
public:
    explicit Waiter(Deadline until) : deadline(until) {}

    const Deadline deadline;
    /// False from the moment that its Wake is decided.
    [[nodiscard]] bool waits() const { return waiting_; }

private:
    friend class WaitList;
    Resume resume_;
    Wake wake_ = Wake::ready;
    bool waiting_ = false;
};

/// The waiters in order of arrival, with one timer for all their deadlines.
///
/// Shape:   who is woken runs in a later turn of the loop, never inside the call that woke it; all
///          that were woken in between run in one turn.
/// Owns:    the coroutines that wait: one that still waits when the list goes is destroyed.
/// Threads: its core only.
/// Cost:    waiting and waking: O(1), no allocation. The timer is moved only when a deadline
///          nearer than all before it enters, and then scans the list when it fires.
/// Cancel:  terminal cancellation wakes the waiter with Wake::cancelled.
class WaitList {
public:
    explicit WaitList(boost::asio::io_context& io);
    ~WaitList();
    WaitList(const WaitList&) = delete;
    WaitList& operator=(const WaitList&) = delete;

    /// To be awaited: suspends the coroutine in whose frame `waiter` lies; gives the Wake.
    [[nodiscard]] auto suspend(Waiter& waiter) {
        return boost::asio::async_initiate<const boost::asio::deferred_t, void(Wake)>(
            [this, &waiter](auto handler) {
                auto slot = boost::asio::get_associated_cancellation_slot(handler);
                if (slot.is_connected()) {
                    slot.assign([this, &waiter](boost::asio::cancellation_type) {
                        wake(waiter, Wake::cancelled);
                    });
                }
                waiter.resume_.fill(std::move(handler));
                enter(waiter);
            },
            boost::asio::deferred);
    }

    /// Suspends until woken or `deadline`.
    ///
    /// Cost:   one frame.
    /// Cancel: throws system_error(operation_aborted), as Asio's own waits do.
    boost::asio::awaitable<Wake> wait(Deadline deadline);

    /// Decides the wake of a waiter of this list; one already decided stays as it is.
    void wake(Waiter& waiter, Wake wake = Wake::ready);
    /// False when nobody waits.
    bool wake_one();
    void wake_all();
    /// The one who waits longest, or null.
    [[nodiscard]] Waiter* front();
    [[nodiscard]] bool empty() const;
    /// Stops the timer while nobody waits, so that a loop can run out of work.
    void rest();

private:
    struct State;
    void enter(Waiter& waiter);

    std::shared_ptr<State> state_;
};

/// Throws what a Wake other than ready means.
///
/// Errors: expired: DeadlineExceeded, which says what was waited for; cancelled: system_error.
void expect_ready(Wake wake, const char* what);

}  // namespace tenon::runtime
