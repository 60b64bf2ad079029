#include "runtime/wait_list.hpp"

#include <algorithm>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/system_error.hpp>
#include <string>

#include "runtime/failure.hpp"

namespace tenon::runtime {

namespace asio = boost::asio;

namespace {

/// Deadlines that lie closer together than this share one turn of the timer.
constexpr std::chrono::milliseconds timer_step{1};

}  // namespace

struct WaitList::State : std::enable_shared_from_this<State> {
    using List = boost::intrusive::list<Waiter, boost::intrusive::constant_time_size<false>>;

    explicit State(asio::io_context& loop) : io(loop), timer(loop) {}

    void decide(Waiter& waiter, Wake wake) {
        waiter.waiting_ = false;
        waiter.wake_ = wake;
        waiter.unlink();
        woken.push_back(waiter);
        run_woken_later();
    }

    void run_woken_later() {
        if (std::exchange(scheduled, true)) return;
        asio::post(io, [state = shared_from_this()] { state->run_woken(); });
    }

    void run_woken() {
        scheduled = false;
        List turn;
        turn.swap(woken);
        try {
            while (!turn.empty()) {
                Waiter& waiter = turn.front();
                turn.pop_front();
                waiter.resume_(waiter.wake_);
            }
        } catch (...) {
            // A completion handler threw: the loop passes it on, the others still get their turn.
            woken.splice(woken.begin(), turn);
            if (!woken.empty()) run_woken_later();
            throw;
        }
    }

    void arm(Deadline deadline) {
        armed = deadline;
        timer.expires_at(deadline);
        timer.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
            if (error) return;
            if (const auto state = weak.lock()) state->expire();
        });
    }

    void expire() {
        const Deadline now = std::chrono::steady_clock::now();
        Deadline nearest = Deadline::max();
        for (auto each = waiting.begin(); each != waiting.end();) {
            Waiter& waiter = *each++;
            if (waiter.deadline <= now) {
                decide(waiter, Wake::expired);
            } else {
                nearest = std::min(nearest, waiter.deadline);
            }
        }
        armed = Deadline::max();
        if (nearest != Deadline::max()) arm(std::max(nearest, now + timer_step));
    }

    ~State() { drop(woken); }

    static void drop(List& list) {
        while (!list.empty()) {
            Waiter& waiter = list.front();
            list.pop_front();
            waiter.resume_.drop();
        }
    }

    asio::io_context& io;
    asio::steady_timer timer;
    List waiting;
    List woken;
    Deadline armed = Deadline::max();
    bool scheduled = false;
};

WaitList::WaitList(asio::io_context& io) : state_(std::make_shared<State>(io)) {}

WaitList::~WaitList() {
    // Those already woken keep the state until they have run.
    state_->timer.cancel();
    State::drop(state_->waiting);
}

void WaitList::enter(Waiter& waiter) {
    waiter.waiting_ = true;
    state_->waiting.push_back(waiter);
    if (waiter.deadline < state_->armed) state_->arm(waiter.deadline);
}

asio::awaitable<Wake> WaitList::wait(Deadline deadline) {
    Waiter waiter(deadline);
    const Wake wake = co_await suspend(waiter);
    if (wake == Wake::cancelled) expect_ready(wake, "");
    co_return wake;
}

void WaitList::wake(Waiter& waiter, Wake wake) {
    if (waiter.waiting_) state_->decide(waiter, wake);
}

bool WaitList::wake_one() {
    if (state_->waiting.empty()) return false;
    state_->decide(state_->waiting.front(), Wake::ready);
    return true;
}

void WaitList::wake_all() {
    while (wake_one()) continue;
}

Waiter* WaitList::front() {
    return empty() ? nullptr : &state_->waiting.front();
}

bool WaitList::empty() const {
    return state_->waiting.empty();
}

void WaitList::rest() {
    if (!empty()) return;
    state_->timer.cancel();
    state_->armed = Deadline::max();
}

void expect_ready(Wake wake, const char* what) {
    if (wake == Wake::expired) {
        throw DeadlineExceeded(std::string("the deadline passed while waiting for ") + what);
    }
    if (wake == Wake::cancelled) {
        throw boost::system::system_error(asio::error::operation_aborted);
    }
}

}  // namespace tenon::runtime
