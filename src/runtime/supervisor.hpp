// Named background work that is started again when it fails.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <string>
#include <string_view>
#include <vector>

#include "base/backoff.hpp"
#include "runtime/call.hpp"
#include "runtime/core.hpp"
#include "runtime/task_group.hpp"

namespace tenon::runtime {

/// How a Supervisor restarts.
struct SupervisorOptions {
    /// Waits before the restarts of a job that keeps failing, with full jitter.
    base::Backoff::Options restart{.first = std::chrono::milliseconds(100),
                                   .longest = std::chrono::milliseconds(30'000)};
    /// A job that ran at least this long begins its waits anew.
    std::chrono::milliseconds healthy_after{60'000};
};

/// Runs background jobs on one core until it is told to stop.
///
/// Shape:   a job that returns has done its work; one that throws is logged, counted and started
///          again after a wait.
/// Expects: stop() was awaited, or the core's loop was stopped, before destruction.
/// Threads: its core only.
class Supervisor {
public:
    using Options = SupervisorOptions;
    /// The call has no deadline and a trace per run; each round of work makes its own call from
    /// call.core. The function lives until the supervisor ends, so it may hold what the job needs.
    using Job = std::function<boost::asio::awaitable<void>(Call&)>;

    explicit Supervisor(Core& core, Options options = {});
    Supervisor(const Supervisor&) = delete;
    Supervisor& operator=(const Supervisor&) = delete;

    /// Expects: stop() was not called; `name` is unique here.
    void start(std::string name, Job job);
    /// Cancels all jobs and waits for their end until `deadline`. The names of those that had not
    /// ended by then.
    boost::asio::awaitable<std::vector<std::string>> stop(Deadline deadline);
    /// How often the job has failed; 0 for a name that was never started.
    [[nodiscard]] std::uint64_t failures(std::string_view name) const;
    /// Jobs that have not returned.
    [[nodiscard]] std::size_t running() const { return tasks_.size(); }

private:
    struct Entry {
        std::string name;
        Job job;
        std::uint64_t failures = 0;
        bool running = true;
    };

    boost::asio::awaitable<void> keep(Entry& entry);
    boost::asio::awaitable<std::exception_ptr> run_once(Entry& entry);
    boost::asio::awaitable<void> wait_to_restart(std::chrono::nanoseconds pause);
    void record(Entry& entry, const std::exception_ptr& failure);

    Core& core_;
    const Options options_;
    std::list<Entry> entries_;
    bool stopping_ = false;
    TaskGroup tasks_;
};

}  // namespace tenon::runtime
