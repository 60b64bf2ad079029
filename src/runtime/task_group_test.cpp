#include "runtime/task_group.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "runtime/metrics.hpp"
#include "runtime/test_core.hpp"

namespace tenon::runtime {
namespace {

namespace asio = boost::asio;

asio::awaitable<void> wait_then_count(Event& event, int& count) {
    co_await event.wait();
    ++count;
}

asio::awaitable<void> fail() {
    throw std::runtime_error("as told");
    co_return;
}

asio::awaitable<void> wait_and_note(Event& event, bool& cancelled) {
    try {
        co_await event.wait();
    } catch (const boost::system::system_error&) {
        cancelled = true;
        throw;
    }
}

TEST(TaskGroup, JoinsWhenAllHaveEnded) {
    TestCore test;
    Event event(test.core.io());
    TaskGroup group(test.core.io());
    int count = 0;
    for (int task = 0; task < 3; ++task) group.spawn("task", wait_then_count(event, count));
    TaskGroup joiners(test.core.io());
    joiners.spawn("join", group.join());
    joiners.spawn("join", group.join());
    test.turn();
    EXPECT_EQ(group.size(), 3U);
    EXPECT_EQ(joiners.size(), 2U);
    event.set();
    test.run(joiners.join());
    EXPECT_EQ(count, 3);
    EXPECT_EQ(group.size(), 0U);
}

/// Ends only some turns after it was cancelled, and then writes into its owner's frame.
asio::awaitable<void> linger(Event& event, int& written) {
    try {
        co_await event.wait();
    } catch (const boost::system::system_error&) {
        written = 1;
    }
}

asio::awaitable<void> own_a_frame(asio::io_context& io, Event& event, bool& joined) {
    int written = 0;
    TaskGroup inner(io);
    inner.spawn("linger", linger(event, written));
    co_await inner.join_fully();
    joined = written == 1 && inner.size() == 0;
}

TEST(TaskGroup, AJoinThatIsCancelledCancelsItsTasksAndWaitsForThem) {
    TestCore test;
    Event event(test.core.io());
    TaskGroup group(test.core.io());
    bool joined = false;
    group.spawn("owner", own_a_frame(test.core.io(), event, joined));
    test.turn();
    group.cancel();
    test.run(group.join());
    EXPECT_TRUE(joined);
}

TEST(TaskGroup, JoinOfAnEmptyGroupReturnsAtOnce) {
    TestCore test;
    TaskGroup group(test.core.io());
    test.run(group.join());
}

TEST(TaskGroup, SurvivesATaskThatThrows) {
    TestCore test;
    TaskGroup group(test.core.io());
    group.spawn("reader of the log", fail());
    test.run(group.join());
    EXPECT_NE(metrics().expose().find("tenon_runtime_failures_total{job=\"reader of the log\"} 1"),
              std::string::npos);
}

TEST(TaskGroup, CancelsAllAndNeverStartsLaterOnes) {
    TestCore test;
    Event event(test.core.io());
    TaskGroup group(test.core.io());
    bool first = false;
    bool second = false;
    bool later = false;
    group.spawn("first", wait_and_note(event, first));
    group.spawn("second", wait_and_note(event, second));
    test.turn();
    group.cancel();
    group.spawn("later", wait_and_note(event, later));
    test.run(group.join());
    EXPECT_TRUE(first && second);
    EXPECT_FALSE(later);
}

TEST(TaskGroup, CancelsATaskThatHasNotRunYet) {
    TestCore test;
    Event event(test.core.io());
    TaskGroup group(test.core.io());
    int count = 0;
    group.spawn("task", wait_then_count(event, count));
    group.cancel();
    test.run(group.join());
    EXPECT_EQ(count, 0);
}

}  // namespace
}  // namespace tenon::runtime
