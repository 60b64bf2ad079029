#include "runtime/supervisor.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/assert.hpp"
#include "runtime/report.hpp"
#include "runtime/wait.hpp"

namespace tenon::runtime {

namespace asio = boost::asio;

Supervisor::Supervisor(Core& core, Options options)
    : core_(core), options_(options), tasks_(core.io()) {}

void Supervisor::start(std::string name, Job job) {
    TENON_ASSERT(!stopping_);
    TENON_ASSERT(std::ranges::find(entries_, name, &Entry::name) == entries_.end());
    Entry& entry = entries_.emplace_back(Entry{.name = std::move(name), .job = std::move(job)});
    tasks_.spawn(entry.name, keep(entry));
}

asio::awaitable<void> Supervisor::keep(Entry& entry) {
    base::Backoff backoff(options_.restart, core_.random());
    for (;;) {
        const auto began = std::chrono::steady_clock::now();
        const std::exception_ptr failure = co_await run_once(entry);
        if (failure && !(stopping_ && is_cancellation(failure))) record(entry, failure);
        if (!failure || stopping_) break;
        if (std::chrono::steady_clock::now() - began >= options_.healthy_after) backoff.reset();
        co_await wait_to_restart(backoff.next());
        if (stopping_) break;
    }
    entry.running = false;
}

asio::awaitable<std::exception_ptr> Supervisor::run_once(Entry& entry) {
    Call call = core_.make_call(std::chrono::nanoseconds(0));
    call.deadline = Deadline::max();
    try {
        co_await entry.job(call);
        co_return nullptr;
    } catch (...) {
        co_return std::current_exception();
    }
}

asio::awaitable<void> Supervisor::wait_to_restart(std::chrono::nanoseconds pause) {
    try {
        co_await pause_for(pause);
    } catch (const boost::system::system_error&) {
        // Only stop() cancels the wait, and the caller looks for that.
        TENON_ASSERT(stopping_);
    }
}

void Supervisor::record(Entry& entry, const std::exception_ptr& failure) {
    ++entry.failures;
    report_failure(entry.name, failure);
}

asio::awaitable<std::vector<std::string>> Supervisor::stop(Deadline deadline) {
    stopping_ = true;
    tasks_.cancel();
    std::vector<std::string> late;
    try {
        co_await until(deadline, tasks_.join());
    } catch (const DeadlineExceeded&) {
        for (const Entry& entry : entries_) {
            if (entry.running) late.push_back(entry.name);
        }
    }
    co_return late;
}

std::uint64_t Supervisor::failures(std::string_view name) const {
    const auto found = std::ranges::find(entries_, name, &Entry::name);
    return found == entries_.end() ? 0 : found->failures;
}

}  // namespace tenon::runtime
