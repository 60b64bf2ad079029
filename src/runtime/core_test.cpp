#include "runtime/core.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/post.hpp>
#include <set>
#include <stdexcept>
#include <thread>

#include "runtime/test_core.hpp"

namespace tenon::runtime {
namespace {

namespace asio = boost::asio;

TEST(Core, MakesCallsWithFreshTraces) {
    TestCore test;
    const Call first = test.core.make_call(std::chrono::seconds(5));
    const Call second = test.core.make_call(std::chrono::seconds(5));
    EXPECT_EQ(first.core, &test.core);
    EXPECT_EQ(first.now, test.clock.now());
    EXPECT_GT(first.remaining(), std::chrono::seconds(4));
    EXPECT_NE(first.trace.trace_id, second.trace.trace_id);
    EXPECT_TRUE(first.project.is_nil());
    EXPECT_FALSE(first.claim);
}

TEST(Cores, RunWorkOnEveryThread) {
    const base::SystemClock clock;
    Cores cores(3, clock);
    cores.start();
    std::mutex guard;
    std::set<std::thread::id> threads;
    std::set<std::size_t> indexes;
    cores.on_each([&](Core& core) {
        const std::lock_guard lock(guard);
        threads.insert(std::this_thread::get_id());
        indexes.insert(core.index());
    });
    EXPECT_EQ(threads.size(), 3U);
    EXPECT_FALSE(threads.contains(std::this_thread::get_id()));
    EXPECT_EQ(indexes, (std::set<std::size_t>{0, 1, 2}));
    cores.stop();
    cores.stop();
}

TEST(Cores, PassOnWhatTheWorkThrew) {
    const base::SystemClock clock;
    Cores cores(2, clock);
    cores.start();
    EXPECT_THROW(cores.on_each([](Core& core) {
        if (core.index() == 1) throw std::runtime_error("no");
    }),
                 std::runtime_error);
}

TEST(Cores, CountZeroMeansEveryProcessor) {
    const base::SystemClock clock;
    EXPECT_GE(Cores(0, clock).size(), 1U);
}

/// Counts when the frame that it lies in is destroyed.
struct Witness {
    explicit Witness(std::atomic<int>& ends) : ended(&ends) {}
    Witness(const Witness&) = delete;
    Witness& operator=(const Witness&) = delete;
    ~Witness() { ++*ended; }
    std::atomic<int>* ended;
};

asio::awaitable<void> wait_for_ever(Core& core, std::atomic<int>& ends) {
    const Witness witness(ends);
    asio::steady_timer timer(core.io(), asio::steady_timer::time_point::max());
    co_await timer.async_wait(asio::use_awaitable);
}

asio::awaitable<void> wait_elsewhere(Core& other, std::atomic<int>& ends) {
    const Witness witness(ends);
    co_await on_core(other, wait_for_ever(other, ends));
}

TEST(Cores, DestroyWhatStillWaitsAcrossCores) {
    const base::SystemClock clock;
    std::atomic<int> ends = 0;
    {
        Cores cores(2, clock);
        cores.start();
        cores.on_each([&](Core& core) {
            asio::co_spawn(core.io(), wait_elsewhere(cores[1 - core.index()], ends),
                           [](const std::exception_ptr&) {});
        });
        cores.on_each([](Core&) {});
        cores.stop();
    }
    EXPECT_EQ(ends, 4);
}

}  // namespace
}  // namespace tenon::runtime
