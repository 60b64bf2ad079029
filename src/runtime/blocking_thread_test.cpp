#include "runtime/blocking_thread.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <stdexcept>
#include <string>
#include <thread>

#include "runtime/task_group.hpp"
#include "runtime/test_core.hpp"

namespace tenon::runtime {
namespace {

namespace asio = boost::asio;

TEST(BlockingThread, RunsElsewhereAndAnswersHere) {
    TestCore test;
    BlockingThread thread;
    Call call = test.call();
    const std::function<std::thread::id()> tell = [] { return std::this_thread::get_id(); };
    EXPECT_NE(test.run(thread.run(call, tell)), std::this_thread::get_id());
    bool done = false;
    const std::function<void()> mark = [&done] { done = true; };
    test.run(thread.run(call, mark));
    EXPECT_TRUE(done);
}

TEST(BlockingThread, BringsFailuresBack) {
    TestCore test;
    BlockingThread thread;
    Call call = test.call();
    const std::function<int()> fail = []() -> int { throw std::runtime_error("no such host"); };
    const auto failure = test.run(failure_of(thread.run(call, fail)));
    EXPECT_EQ(describe_failure(failure), "no such host");
}

asio::awaitable<void> ask(BlockingThread& thread, Call& call, std::function<int()> work,
                          std::exception_ptr& failure) {
    failure = co_await failure_of(thread.run(call, std::move(work)));
}

/// Keeps the thread busy until it is let go.
struct Plug {
    Plug(BlockingThread& thread, TestCore& test) {
        EXPECT_TRUE(thread.try_post("plug", [this] {
            began.count_down();
            let_go.wait();
        }));
        began.wait();
        test.turn();
    }
    std::latch began{1};
    std::latch let_go{1};
};

TEST(BlockingThread, ACallerLeavesByItsDeadlineAndItsJobNeverBegins) {
    TestCore test;
    BlockingThread thread;
    Plug plug(thread, test);
    std::atomic<bool> begun = false;
    Call call = test.call(std::chrono::milliseconds(5));
    const std::function<int()> work = [&begun] {
        begun = true;
        return 1;
    };
    EXPECT_THROW(test.run(thread.run(call, work)), DeadlineExceeded);
    plug.let_go.count_down();
    Call next = test.call();
    EXPECT_EQ(test.run(thread.run(next, std::function<int()>([] { return 2; }))), 2);
    EXPECT_FALSE(begun);
}

TEST(BlockingThread, HoldsItsBoundAndRefusesWhatWaitsWhenItStops) {
    TestCore test;
    BlockingThread thread({.queue_max = 1});
    Plug plug(thread, test);
    TaskGroup group(test.core.io());
    Call call = test.call();
    std::exception_ptr waited;
    std::exception_ptr refused;
    group.spawn("waits", ask(thread, call, [] { return 1; }, waited));
    test.turn();
    EXPECT_EQ(thread.waiting(), 1U);
    group.spawn("refused", ask(thread, call, [] { return 2; }, refused));
    test.turn();
    EXPECT_TRUE(is_a<Unavailable>(refused));
    std::thread stopper([&thread] { thread.stop(); });
    test.run(group.join());
    EXPECT_TRUE(is_a<Unavailable>(waited));
    plug.let_go.count_down();
    stopper.join();
    EXPECT_FALSE(thread.try_post("late", [] {}));
}

TEST(BlockingThread, SurvivesAPostedJobThatThrows) {
    TestCore test;
    BlockingThread thread;
    EXPECT_TRUE(thread.try_post("cancel", [] { throw std::runtime_error("gone"); }));
    Call call = test.call();
    EXPECT_EQ(test.run(thread.run(call, std::function<int()>([] { return 5; }))), 5);
}

TEST(BlockingThread, ServesManyCoresAtOnce) {
    TestCore test;
    const base::SystemClock clock;
    BlockingThread thread({.queue_max = 10'000});
    Cores cores(3, clock);
    cores.start();
    const auto sum = [](BlockingThread& blocking, Core& core) -> asio::awaitable<int> {
        int total = 0;
        for (int round = 0; round < 100; ++round) {
            Call call = core.make_call(std::chrono::seconds(60));
            total += co_await blocking.run(call, std::function<int()>([round] { return round; }));
        }
        co_return total;
    };
    TaskGroup group(test.core.io());
    std::array<int, 3> totals{};
    const auto visit = [](Core& core, asio::awaitable<int> work, int& to) -> asio::awaitable<void> {
        to = co_await on_core(core, std::move(work));
    };
    for (std::size_t index = 0; index < 3; ++index) {
        group.spawn("visit", visit(cores[index], sum(thread, cores[index]), totals[index]));
    }
    test.run(group.join());
    EXPECT_EQ(totals, (std::array<int, 3>{4950, 4950, 4950}));
    thread.stop();
    cores.stop();
}

}  // namespace
}  // namespace tenon::runtime
