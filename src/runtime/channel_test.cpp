#include "runtime/channel.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <deque>
#include <memory>
#include <vector>

#include "runtime/task_group.hpp"
#include "runtime/test_core.hpp"

namespace tenon::runtime {
namespace {

namespace asio = boost::asio;
using testing::ElementsAre;

asio::awaitable<void> push_all(Channel<int>& channel, Call& call, std::vector<int> items,
                               std::vector<bool>& pushed) {
    for (const int item : items) pushed.push_back(co_await channel.push(call, item));
}

asio::awaitable<void> pop_all(Channel<int>& channel, Call& call, std::vector<int>& popped) {
    while (const auto item = co_await channel.pop(call)) popped.push_back(*item);
}

struct Pipe {
    explicit Pipe(std::size_t capacity) : channel(test.core.io(), capacity) {}
    TestCore test;
    Call call = test.call();
    Channel<int> channel;
    std::vector<bool> pushed;
    std::vector<int> popped;
    TaskGroup group{test.core.io()};
};

TEST(Channel, HoldsBackThePusherWhenFull) {
    Pipe pipe(2);
    pipe.group.spawn("push", push_all(pipe.channel, pipe.call, {1, 2, 3, 4, 5}, pipe.pushed));
    pipe.test.turn();
    EXPECT_EQ(pipe.pushed.size(), 2U);
    EXPECT_FALSE(pipe.channel.try_push(9));
    EXPECT_EQ(pipe.channel.try_pop(), 1);
    EXPECT_EQ(pipe.channel.size(), 2U) << "the suspended pusher's item has moved up";
    EXPECT_FALSE(pipe.channel.try_push(9)) << "nobody overtakes the one who waits";
    pipe.group.spawn("pop", pop_all(pipe.channel, pipe.call, pipe.popped));
    pipe.test.turn();
    pipe.channel.close();
    pipe.test.run(pipe.group.join());
    EXPECT_THAT(pipe.popped, ElementsAre(2, 3, 4, 5));
}

TEST(Channel, PoppersAreServedInOrder) {
    Pipe pipe(4);
    std::vector<int> order;
    const auto pop_one = [](Channel<int>& channel, Call& call, std::vector<int>& to,
                            int popper) -> asio::awaitable<void> {
        const auto item = co_await channel.pop(call);
        to.push_back(10 * popper + item.value_or(9));
    };
    for (int popper = 1; popper <= 3; ++popper) {
        pipe.group.spawn("pop", pop_one(pipe.channel, pipe.call, order, popper));
    }
    pipe.test.turn();
    EXPECT_TRUE(pipe.channel.try_push(1));
    EXPECT_TRUE(pipe.channel.try_push(2));
    EXPECT_EQ(pipe.channel.size(), 0U) << "handed over, not kept";
    pipe.channel.close();
    pipe.test.run(pipe.group.join());
    EXPECT_THAT(order, ElementsAre(11, 22, 39));
}

TEST(Channel, ClosingRefusesPushersAndDrainsPoppers) {
    Pipe pipe(1);
    pipe.group.spawn("push", push_all(pipe.channel, pipe.call, {1, 2}, pipe.pushed));
    pipe.test.turn();
    pipe.channel.close();
    pipe.test.run(pipe.group.join());
    EXPECT_THAT(pipe.pushed, ElementsAre(true, false));
    pipe.test.run(pop_all(pipe.channel, pipe.call, pipe.popped));
    EXPECT_THAT(pipe.popped, ElementsAre(1));
    EXPECT_FALSE(pipe.channel.try_push(3));
}

TEST(Channel, WhoLeavesByDeadlineHasDoneNothing) {
    Pipe pipe(1);
    Call soon = pipe.test.call(std::chrono::milliseconds(5));
    EXPECT_THROW(pipe.test.run(pipe.channel.pop(soon)), DeadlineExceeded);
    EXPECT_TRUE(pipe.channel.try_push(1));
    Call soon_too = pipe.test.call(std::chrono::milliseconds(5));
    EXPECT_THROW(pipe.test.run(pipe.channel.push(soon_too, 2)), DeadlineExceeded);
    EXPECT_EQ(pipe.channel.try_pop(), 1);
    EXPECT_EQ(pipe.channel.try_pop(), std::nullopt);
}

TEST(Channel, WhoIsCancelledHasDoneNothing) {
    Pipe pipe(1);
    pipe.group.spawn("pop", pop_all(pipe.channel, pipe.call, pipe.popped));
    pipe.test.turn();
    pipe.group.cancel();
    pipe.test.turn();
    EXPECT_TRUE(pipe.channel.try_push(1));
    pipe.test.run(pipe.group.join());
    EXPECT_EQ(pipe.channel.try_pop(), 1);
}

TEST(Channel, KeepsAnItemItCouldNotTake) {
    TestCore test;
    Channel<std::unique_ptr<int>> channel(test.core.io(), 1);
    auto item = std::make_unique<int>(1);
    EXPECT_TRUE(channel.try_push(item));
    item = std::make_unique<int>(2);
    EXPECT_FALSE(channel.try_push(item));
    ASSERT_NE(item, nullptr);
    EXPECT_EQ(*item, 2);
}

RC_GTEST_PROP(ChannelModel, EveryItemComesOutOnceAndInOrder, ()) {
    const auto capacity = *rc::gen::inRange<std::size_t>(1, 8);
    const auto pushers = *rc::gen::inRange(1, 4);
    const auto poppers = *rc::gen::inRange(1, 4);
    Pipe pipe(capacity);
    int next = 0;
    for (int pusher = 0; pusher < pushers; ++pusher) {
        std::vector<int> items(*rc::gen::inRange<std::size_t>(0, 20));
        for (int& item : items) item = 1'000 * pusher + next++;
        pipe.group.spawn("push", push_all(pipe.channel, pipe.call, items, pipe.pushed));
        if (*rc::gen::arbitrary<bool>()) pipe.test.turn();
        RC_ASSERT(pipe.channel.size() <= capacity);
    }
    for (int popper = 0; popper < poppers; ++popper) {
        pipe.group.spawn("pop", pop_all(pipe.channel, pipe.call, pipe.popped));
        if (*rc::gen::arbitrary<bool>()) pipe.test.turn();
    }
    pipe.test.turn();
    pipe.channel.close();
    pipe.test.run(pipe.group.join());
    RC_ASSERT(pipe.popped.size() == static_cast<std::size_t>(next));
    if (poppers > 1) return;  // they take in order, and may go on in another
    std::vector<int> last(static_cast<std::size_t>(pushers), -1);
    for (const int item : pipe.popped) {
        int& before = last[static_cast<std::size_t>(item / 1'000)];
        RC_ASSERT(before < item);
        before = item;
    }
}

}  // namespace
}  // namespace tenon::runtime
