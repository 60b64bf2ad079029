#include "runtime/task_group.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "runtime/report.hpp"

namespace tenon::runtime {

namespace asio = boost::asio;

struct TaskGroup::State {
    struct Task {
        std::string name;
        asio::cancellation_signal signal;
    };
    using Tasks = std::list<std::shared_ptr<Task>>;

    explicit State(asio::io_context& loop) : io(loop), empty(loop) {
        empty.expires_at(asio::steady_timer::time_point::max());
    }

    void ended(Tasks::iterator task, const std::exception_ptr& failure) {
        const std::shared_ptr<Task> gone = std::move(*task);
        tasks.erase(task);
        if (failure && !is_cancellation(failure)) report_failure(gone->name, failure);
        if (tasks.empty()) empty.cancel();
    }

    asio::io_context& io;
    asio::steady_timer empty;  ///< never expires; cancelled when the last task ends
    Tasks tasks;
    bool cancelled = false;
};

TaskGroup::TaskGroup(asio::io_context& io) : state_(std::make_shared<State>(io)) {}

TaskGroup::~TaskGroup() {
    // A loop that was stopped destroys its coroutines itself, after their owner.
    TENON_ASSERT(state_->tasks.empty() || state_->io.stopped());
}

void TaskGroup::spawn(std::string name, asio::awaitable<void> task) {
    if (state_->cancelled) return;
    const auto node =
        state_->tasks.insert(state_->tasks.end(), std::make_shared<State::Task>(std::move(name)));
    auto ended = [state = state_, node](const std::exception_ptr& failure) {
        state->ended(node, failure);
    };
    asio::co_spawn(state_->io, std::move(task),
                   asio::bind_cancellation_slot((*node)->signal.slot(), std::move(ended)));
}

void TaskGroup::cancel() {
    state_->cancelled = true;
    // Tasks that end while others are being cancelled leave the list: work on a copy.
    const std::vector<std::shared_ptr<State::Task>> all(state_->tasks.begin(), state_->tasks.end());
    for (const auto& task : all) task->signal.emit(asio::cancellation_type::terminal);
}

asio::awaitable<void> TaskGroup::join() {
    const std::shared_ptr<State> state = state_;
    while (!state->tasks.empty()) {
        boost::system::error_code woken;
        co_await state->empty.async_wait(asio::redirect_error(asio::use_awaitable, woken));
    }
}

asio::awaitable<void> TaskGroup::join_fully() {
    const std::shared_ptr<State> state = state_;
    // Tasks may refer to the frame that joins them, so it waits for them also when it is cancelled
    // itself; it passes that on to them, and hears of it at its next wait.
    const bool throws = co_await asio::this_coro::throw_if_cancelled();
    co_await asio::this_coro::throw_if_cancelled(false);
    while (!state->tasks.empty()) {
        const auto asked = co_await asio::this_coro::cancellation_state;
        if (asked.cancelled() != asio::cancellation_type::none) cancel();
        if (state->tasks.empty()) break;
        boost::system::error_code woken;
        co_await state->empty.async_wait(asio::redirect_error(asio::use_awaitable, woken));
    }
    co_await asio::this_coro::throw_if_cancelled(throws);
}

std::size_t TaskGroup::size() const {
    return state_->tasks.size();
}

}  // namespace tenon::runtime
