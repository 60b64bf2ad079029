#include "runtime/supervisor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "runtime/metrics.hpp"
#include "runtime/test_core.hpp"

namespace tenon::runtime {
namespace {

namespace asio = boost::asio;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr SupervisorOptions quick{
    .restart = {.first = std::chrono::milliseconds(1), .longest = std::chrono::milliseconds(2)}};

Deadline in(std::chrono::milliseconds time) {
    return std::chrono::steady_clock::now() + time;
}

/// A job that fails a number of times and then waits until it is cancelled.
struct Worker {
    asio::awaitable<void> work(Call& call) {
        traces.push_back(call.trace.trace_id);
        if (++runs <= failures) throw std::runtime_error("worker broke");
        started.set();
        co_await never.wait(call);
    }
    Supervisor::Job job() {
        return [this](Call& call) { return work(call); };
    }

    explicit Worker(TestCore& test) : started(test.core.io()), never(test.core.io()) {}
    int failures = 0;
    int runs = 0;
    std::vector<std::array<std::uint8_t, 16>> traces;
    Event started;
    Event never;
};

TEST(Supervisor, StartsAJobAgainAfterItFailed) {
    TestCore test;
    Worker worker(test);
    worker.failures = 3;
    Supervisor supervisor(test.core, quick);
    supervisor.start("relay", worker.job());
    test.run(worker.started.wait());
    EXPECT_EQ(worker.runs, 4);
    EXPECT_EQ(supervisor.failures("relay"), 3U);
    EXPECT_EQ(supervisor.failures("unknown"), 0U);
    EXPECT_NE(worker.traces[0], worker.traces[1]) << "every run has a trace of its own";
    EXPECT_NE(metrics().expose().find("tenon_runtime_failures_total{job=\"relay\"} 3"),
              std::string::npos);
    EXPECT_THAT(test.run(supervisor.stop(in(std::chrono::hours(1)))), IsEmpty());
    EXPECT_EQ(supervisor.failures("relay"), 3U) << "being stopped is no failure";
}

TEST(Supervisor, LeavesAJobThatReturnedAlone) {
    TestCore test;
    Supervisor supervisor(test.core, quick);
    int runs = 0;
    const auto once = [&runs](Call&) -> asio::awaitable<void> {
        ++runs;
        co_return;
    };
    supervisor.start("once", once);
    while (supervisor.running() > 0) test.core.io().run_one();
    EXPECT_EQ(runs, 1);
    EXPECT_THAT(test.run(supervisor.stop(in(std::chrono::hours(1)))), IsEmpty());
}

TEST(Supervisor, StopsAJobThatWaitsToBeRestarted) {
    TestCore test;
    Worker worker(test);
    worker.failures = 1'000;
    Supervisor supervisor(
        test.core, {.restart = {.first = std::chrono::hours(1), .longest = std::chrono::hours(1)}});
    supervisor.start("broken", worker.job());
    while (worker.runs == 0) test.core.io().run_one();
    EXPECT_THAT(test.run(supervisor.stop(in(std::chrono::hours(1)))), IsEmpty());
    EXPECT_EQ(worker.runs, 1);
}

/// Does not end when it is cancelled, only when it is let go.
asio::awaitable<void> cling(Event& let_go) {
    co_await asio::this_coro::throw_if_cancelled(false);
    co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
    co_await let_go.wait();
}

TEST(Supervisor, NamesWhatDidNotEndInTime) {
    TestCore test;
    Worker worker(test);
    Event let_go(test.core.io());
    Supervisor supervisor(test.core, quick);
    supervisor.start("good", worker.job());
    supervisor.start("stuck", [&let_go](Call&) { return cling(let_go); });
    test.run(worker.started.wait());
    EXPECT_THAT(test.run(supervisor.stop(in(std::chrono::milliseconds(5)))), ElementsAre("stuck"));
    let_go.set();
    EXPECT_THAT(test.run(supervisor.stop(in(std::chrono::hours(1)))), IsEmpty());
}

}  // namespace
}  // namespace tenon::runtime
