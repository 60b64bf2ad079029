// How the process ends: who is told, in which order, and how long it may take.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "runtime/call.hpp"
#include "runtime/core.hpp"
#include "runtime/task_group.hpp"

namespace tenon::runtime {

/// Blocks SIGINT and SIGTERM in this thread and in all it will start, and ignores SIGPIPE.
///
/// Expects: called by main before there is any other thread.
void prepare_signals();

/// The one place that takes SIGINT and SIGTERM.
///
/// Shape:   the first signal calls `asked` once, on this object's own thread; the second ends the
///          process at once with exit code 130.
/// Owns:    that thread, joined by the destructor.
/// Expects: prepare_signals() was called before.
class StopSignals {
public:
    using Asked = std::function<void(int signal)>;

    explicit StopSignals(Asked asked);
    ~StopSignals();
    StopSignals(const StopSignals&) = delete;
    StopSignals& operator=(const StopSignals&) = delete;

private:
    void watch();

    Asked asked_;
    int signals_;
    int stop_;
    std::thread thread_;
};

/// One thing to be stopped.
struct StopStep {
    std::string name;
    /// Share of the bound, relative to the other steps; > 0. What a step leaves over, the later
    /// ones may use.
    unsigned weight = 1;
    /// Returns when it has stopped; the call's deadline is the end of its share.
    std::function<boost::asio::awaitable<void>(Call&)> stop;
};

/// Stops what was started, step by step, within a bound.
///
/// Shape:   steps run in the order of add(). A step that has not ended in its share is cancelled
///          and left behind; one that throws counts as ended, and is logged.
/// Owns:    the steps; those left behind end with the core's loop, so that loop is stopped before
///          this object is destroyed.
/// Threads: its core only.
class Shutdown {
public:
    Shutdown(Core& core, std::chrono::milliseconds bound);

    void add(StopStep step);
    /// The names of the steps that did not end in time or threw, in order; each is logged too.
    boost::asio::awaitable<std::vector<std::string>> run();

private:
    struct Running;
    boost::asio::awaitable<bool> stop_within(StopStep& step, Deadline deadline);

    Core& core_;
    const std::chrono::milliseconds bound_;
    std::list<StopStep> steps_;
    std::list<std::shared_ptr<Running>> left_behind_;
};

}  // namespace tenon::runtime
