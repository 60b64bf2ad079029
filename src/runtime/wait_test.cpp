#include "runtime/wait.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <thread>

#include "runtime/task_group.hpp"
#include "runtime/test_core.hpp"

namespace tenon::runtime {
namespace {

namespace asio = boost::asio;
constexpr std::chrono::milliseconds soon{5};

asio::awaitable<void> wait_and_append(Event& event, std::string& trail, char mark) {
    co_await event.wait();
    trail += mark;
}

TEST(Event, WakesInOrderOfArrivalAndLetsLaterOnesPass) {
    TestCore test;
    Event event(test.core.io());
    TaskGroup group(test.core.io());
    std::string trail;
    for (const char mark : {'a', 'b', 'c'}) group.spawn("w", wait_and_append(event, trail, mark));
    test.turn();
    event.set();
    EXPECT_EQ(trail, "") << "nobody runs inside set()";
    test.run(group.join());
    EXPECT_EQ(trail, "abc");
    test.run(event.wait());
    event.reset();
    EXPECT_FALSE(event.is_set());
}

TEST(Event, LeavesByTheCallsDeadline) {
    TestCore test;
    Event event(test.core.io());
    Call call = test.call(soon);
    EXPECT_THROW(test.run(event.wait(call)), DeadlineExceeded);
}

TEST(Event, DeadlinesThatComeNearerMoveTheTimer) {
    TestCore test;
    Event event(test.core.io());
    TaskGroup group(test.core.io());
    std::string trail;
    group.spawn("patient", wait_and_append(event, trail, 'p'));
    test.turn();
    Call later = test.call(4 * soon);
    Call sooner = test.call(soon);
    std::exception_ptr failures[2];
    const auto note = [](Event& waited, Call& call, std::exception_ptr& to, std::string& order,
                         char mark) -> asio::awaitable<void> {
        to = co_await failure_of(waited.wait(call));
        order += mark;
    };
    group.spawn("later", note(event, later, failures[0], trail, 'l'));
    group.spawn("sooner", note(event, sooner, failures[1], trail, 's'));
    while (trail.size() < 2) test.core.io().run_one();
    EXPECT_EQ(trail, "sl");
    event.set();
    test.run(group.join());
    EXPECT_EQ(trail, "slp");
    EXPECT_TRUE(is_a<DeadlineExceeded>(failures[0]) && is_a<DeadlineExceeded>(failures[1]));
}

TEST(Event, MayGoRightAfterItWasSet) {
    TestCore test;
    TaskGroup group(test.core.io());
    std::string trail;
    auto event = std::make_unique<Event>(test.core.io());
    group.spawn("w", wait_and_append(*event, trail, 'x'));
    test.turn();
    event->set();
    event.reset();
    test.run(group.join());
    EXPECT_EQ(trail, "x");
}

TEST(Latch, OpensAtZero) {
    TestCore test;
    Latch latch(test.core.io(), 2);
    Call call = test.call(soon);
    EXPECT_THROW(test.run(latch.wait(call)), DeadlineExceeded);
    latch.count_down();
    latch.count_down();
    test.run(latch.wait());
    test.run(Latch(test.core.io(), 0).wait());
}

TEST(Pause, EndsByTimeOrCancellation) {
    TestCore test;
    test.run(pause_for(std::chrono::nanoseconds(1)));
    test.run(pause_until(std::chrono::steady_clock::now()));
    TaskGroup group(test.core.io());
    group.spawn("pause", pause_for(std::chrono::hours(1)));
    test.turn();
    group.cancel();
    test.run(group.join());
}

asio::awaitable<int> give(int value) {
    co_return value;
}

asio::awaitable<int> refuse() {
    throw std::runtime_error("refused");
    co_return 0;
}

asio::awaitable<int> wait_for(Event& event) {
    co_await event.wait();
    co_return 1;
}

TEST(Until, GivesTheResultOrTheFailure) {
    TestCore test;
    const Deadline far = std::chrono::steady_clock::now() + std::chrono::hours(1);
    EXPECT_EQ(test.run(until(far, give(7))), 7);
    EXPECT_THROW(test.run(until(far, refuse())), std::runtime_error);
    test.run(until(far, pause_for(std::chrono::nanoseconds(1))));
}

TEST(Until, CancelsTheWorkAtTheDeadline) {
    TestCore test;
    Event never(test.core.io());
    EXPECT_THROW(test.run(until(std::chrono::steady_clock::now() + soon, wait_for(never))),
                 DeadlineExceeded);
}

TEST(Until, PassesCancellationOn) {
    TestCore test;
    Event never(test.core.io());
    TaskGroup group(test.core.io());
    std::exception_ptr failure;
    const auto ask = [](Event& event, std::exception_ptr& to) -> asio::awaitable<void> {
        to = co_await failure_of(until(Deadline::max(), wait_for(event)));
    };
    group.spawn("ask", ask(never, failure));
    test.turn();
    group.cancel();
    test.run(group.join());
    EXPECT_TRUE(failure && is_cancellation(failure));
}

/// The test's own core and two with threads, which end first: they post to the test's.
struct Pair {
    Pair() { cores.start(); }
    TestCore test;
    base::SystemClock clock;
    Cores cores{2, clock};
};

asio::awaitable<std::thread::id> tell_thread() {
    co_return std::this_thread::get_id();
}

asio::awaitable<bool> visit(Core& there, std::thread::id& seen) {
    const auto here = std::this_thread::get_id();
    seen = co_await on_core(there, tell_thread());
    co_return here == std::this_thread::get_id();
}

TEST(OnCore, RunsThereAndReturnsHere) {
    Pair pair;
    std::thread::id seen;
    EXPECT_TRUE(pair.test.run(visit(pair.cores[0], seen)));
    EXPECT_NE(seen, std::this_thread::get_id());
    EXPECT_EQ(pair.test.run(on_core(pair.test.core, give(3))), 3) << "its own core too";
}

TEST(OnCore, BringsFailuresBack) {
    Pair pair;
    EXPECT_THROW(pair.test.run(on_core(pair.cores[1], refuse())), std::runtime_error);
}

asio::awaitable<void> wait_there(Core& core, std::atomic<int>& cancelled) {
    try {
        co_await pause_for(std::chrono::hours(1));
    } catch (const boost::system::system_error&) {
        // On the core's own thread, in which the counter of its io is touched.
        cancelled += static_cast<int>(core.index()) + 1;
        throw;
    }
}

TEST(OnCore, PassesCancellationOnAndWaitsForItsEnd) {
    Pair pair;
    std::atomic<int> cancelled = 0;
    TaskGroup group(pair.test.core.io());
    for (std::size_t index = 0; index < 2; ++index) {
        Core& core = pair.cores[index];
        group.spawn("visit", on_core(core, wait_there(core, cancelled)));
    }
    pair.test.turn();
    group.cancel();
    pair.test.run(group.join());
    EXPECT_EQ(cancelled, 3);
}

asio::awaitable<int> bounce(Cores& cores, int hops) {
    if (hops == 0) co_return 0;
    Core& next = cores[static_cast<std::size_t>(hops) % cores.size()];
    co_return 1 + co_await on_core(next, bounce(cores, hops - 1));
}

TEST(OnCore, NestsAcrossCores) {
    Pair pair;
    EXPECT_EQ(pair.test.run(bounce(pair.cores, 50)), 50);
}

}  // namespace
}  // namespace tenon::runtime
