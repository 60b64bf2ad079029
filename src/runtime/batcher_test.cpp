#include "runtime/batcher.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <list>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/failure.hpp"
#include "runtime/test_core.hpp"

namespace tenon::runtime {
namespace {

namespace asio = boost::asio;
using testing::ElementsAre;
using Numbers = std::vector<int>;

/// A batcher whose runs are recorded, doubled, and may be held back or failed.
struct Bench {
    explicit Bench(BatchOptions options = {})
        : batcher(test.core, options, [this](Call& call, std::span<const int> items) {
              return run(call, {items.begin(), items.end()});
          }) {}
    ~Bench() { test.run(batcher.close()); }

    asio::awaitable<Numbers> run(Call& call, Numbers items) {
        runs.push_back(items);
        priorities.push_back(call.priority);
        ++running;
        running_max = std::max(running_max, running);
        if (gate != nullptr) co_await gate->wait();
        --running;
        if (fail) fail(items);
        for (int& item : items) item *= 2;
        co_return items;
    }

    /// Adds an item under a call of its own; its outcome is results[item] or failures[item].
    void add(int item, std::chrono::nanoseconds limit = std::chrono::seconds(60)) {
        calls.push_back(test.call(limit));
        callers.spawn("caller", ask(calls.back(), item));
    }
    asio::awaitable<void> ask(Call& call, int item) {
        try {
            const int result = co_await batcher.add(call, item);
            results[item] = result;
            answered.push_back(item);
        } catch (...) {
            failures[item] = std::current_exception();
        }
    }
    void finish() { test.run(callers.join()); }

    TestCore test;
    std::vector<Numbers> runs;
    std::vector<Priority> priorities;
    int running = 0;
    int running_max = 0;
    Event* gate = nullptr;
    std::function<void(const Numbers&)> fail;
    std::list<Call> calls;
    std::map<int, int> results;
    std::vector<int> answered;
    std::map<int, std::exception_ptr> failures;
    TaskGroup callers{test.core.io()};
    Batcher<int, int> batcher;
};

TEST(Batcher, SendsASingleItemAtOnce) {
    Bench bench;
    Call call = bench.test.call();
    EXPECT_EQ(bench.test.run(bench.batcher.add(call, 21)), 42);
    EXPECT_THAT(bench.runs, ElementsAre(Numbers{21}));
}

TEST(Batcher, GathersWhatArrivesWhileABatchRuns) {
    Bench bench;
    Event gate(bench.test.core.io());
    bench.gate = &gate;
    bench.add(1);
    bench.test.turn();
    for (const int item : {2, 3, 4}) bench.add(item);
    bench.test.turn();
    EXPECT_EQ(bench.batcher.waiting(), 3U);
    EXPECT_THAT(bench.runs, ElementsAre(Numbers{1}));
    gate.set();
    bench.finish();
    EXPECT_THAT(bench.runs, ElementsAre(Numbers{1}, Numbers{2, 3, 4}));
    EXPECT_THAT(bench.answered, ElementsAre(1, 2, 3, 4));
    EXPECT_EQ(bench.results[4], 8);
    EXPECT_EQ(bench.batcher.waiting(), 0U);
}

TEST(Batcher, WhatIsReadyTogetherGoesTogether) {
    Bench bench;
    for (const int item : {5, 6, 7}) bench.add(item);
    bench.finish();
    EXPECT_THAT(bench.runs, ElementsAre(Numbers{5, 6, 7}));
}

TEST(Batcher, HoldsItsBounds) {
    Bench bench({.batch_max = 4, .in_flight_max = 2, .queue_max = 5});
    Event gate(bench.test.core.io());
    bench.gate = &gate;
    for (int item = 0; item < 5; ++item) bench.add(item);
    bench.test.turn();
    EXPECT_THAT(bench.runs, ElementsAre(Numbers{0, 1, 2, 3}, Numbers{4}));
    for (int item = 5; item < 11; ++item) bench.add(item);
    bench.test.turn();
    EXPECT_EQ(bench.batcher.waiting(), 5U);
    EXPECT_TRUE(is_a<Unavailable>(bench.failures[10])) << "the sixth that waits is refused at once";
    EXPECT_EQ(bench.running_max, 2);
    gate.set();
    bench.finish();
    EXPECT_EQ(bench.results.size(), 10U);
    EXPECT_EQ(bench.running_max, 2);
    for (const Numbers& run : bench.runs) EXPECT_LE(run.size(), 4U);
}

TEST(Batcher, HalvesUntilTheBadItemStandsAlone) {
    Bench bench;
    bench.fail = [](const Numbers& items) {
        if (std::ranges::count(items, 5) > 0) throw Failure("22021", Advice::split);
    };
    for (int item = 0; item < 8; ++item) bench.add(item);
    bench.finish();
    EXPECT_THAT(bench.runs, ElementsAre(Numbers{0, 1, 2, 3, 4, 5, 6, 7}, Numbers{0, 1, 2, 3},
                                        Numbers{4, 5, 6, 7}, Numbers{4, 5}, Numbers{4}, Numbers{5},
                                        Numbers{6, 7}));
    EXPECT_EQ(bench.results.size(), 7U);
    ASSERT_EQ(bench.failures.size(), 1U);
    EXPECT_EQ(describe_failure(bench.failures[5]), "22021");
}

TEST(Batcher, RepeatsThreeTimesAndThenGivesTheTrueError) {
    Bench bench;
    int left = 3;
    bench.fail = [&left](const Numbers&) {
        if (left-- > 0) throw Failure("40P01", Advice::repeat);
    };
    bench.add(1);
    bench.finish();
    EXPECT_EQ(bench.results[1], 2);
    EXPECT_EQ(bench.runs.size(), 4U);
    left = 4;
    bench.add(2);
    bench.finish();
    EXPECT_EQ(describe_failure(bench.failures[2]), "40P01");
    EXPECT_EQ(bench.runs.size(), 8U);
}

TEST(Batcher, OtherFailuresReachEveryItemOfThatBatchOnly) {
    Bench bench;
    bench.fail = [](const Numbers& items) {
        if (items.front() == 1) throw std::logic_error("broken");
    };
    bench.add(1);
    bench.add(2);
    bench.finish();
    bench.add(3);
    bench.finish();
    EXPECT_EQ(describe_failure(bench.failures[1]), "broken");
    EXPECT_EQ(describe_failure(bench.failures[2]), "broken");
    EXPECT_EQ(bench.results[3], 6);
}

TEST(Batcher, ACallerLeavesByItsDeadlineAndTheOthersGetTheirs) {
    Bench bench;
    Event gate(bench.test.core.io());
    bench.gate = &gate;
    bench.add(1);
    bench.add(2, std::chrono::milliseconds(20));
    bench.test.turn();
    bench.add(3, std::chrono::milliseconds(20));
    while (bench.failures.size() < 2) bench.test.core.io().run_one();
    EXPECT_TRUE(is_a<DeadlineExceeded>(bench.failures[2])) << "left a running batch";
    EXPECT_TRUE(is_a<DeadlineExceeded>(bench.failures[3])) << "left the line";
    EXPECT_EQ(bench.batcher.waiting(), 0U);
    gate.set();
    bench.finish();
    EXPECT_EQ(bench.results[1], 2);
    EXPECT_THAT(bench.runs, ElementsAre(Numbers{1, 2}))
        << "an item that waited too long is not sent";
}

TEST(Batcher, RefusesAPassedDeadline) {
    Bench bench;
    bench.add(1, std::chrono::nanoseconds(0));
    bench.finish();
    EXPECT_TRUE(is_a<DeadlineExceeded>(bench.failures[1]));
    EXPECT_TRUE(bench.runs.empty());
}

TEST(Batcher, CancelledCallersLeaveTheLine) {
    Bench bench;
    Event gate(bench.test.core.io());
    bench.gate = &gate;
    bench.add(1);
    bench.test.turn();
    bench.add(2);
    bench.test.turn();
    bench.callers.cancel();
    bench.finish();
    EXPECT_TRUE(is_cancellation(bench.failures[1]));
    EXPECT_TRUE(is_cancellation(bench.failures[2]));
    gate.set();
    bench.test.run(bench.batcher.close());
    EXPECT_THAT(bench.runs, ElementsAre(Numbers{1}));
}

TEST(Batcher, ClosingEndsRunningBatchesAndRefusesTheRest) {
    Bench bench;
    Event gate(bench.test.core.io());
    bench.gate = &gate;
    bench.add(1);
    bench.test.turn();
    bench.add(2);
    TaskGroup closers(bench.test.core.io());
    closers.spawn("close", bench.batcher.close());
    bench.add(3);
    bench.test.turn();
    EXPECT_EQ(closers.size(), 1U) << "the first batch still runs";
    gate.set();
    bench.finish();
    bench.test.run(closers.join());
    EXPECT_EQ(bench.results[1], 2);
    EXPECT_TRUE(is_a<Unavailable>(bench.failures[2]));
    EXPECT_TRUE(is_a<Unavailable>(bench.failures[3]));
}

TEST(Batcher, ABatchHasTheHighestPriorityOfItsItems) {
    Bench bench;
    bench.add(1);
    bench.calls.back().priority = Priority::bulk;
    bench.add(2);
    bench.calls.back().priority = Priority::vital;
    bench.finish();
    bench.add(3);
    bench.finish();
    EXPECT_THAT(bench.priorities, ElementsAre(Priority::vital, Priority::normal));
}

TEST(Batcher, StopsHalvingWhenItsRunLimitIsOver) {
    Bench bench({.run_limit = std::chrono::milliseconds(0)});
    bench.add(1);
    bench.finish();
    EXPECT_TRUE(is_a<DeadlineExceeded>(bench.failures[1]));
    EXPECT_TRUE(bench.runs.empty());
}

asio::awaitable<std::vector<bool>> tell_even(Call&, std::span<const std::unique_ptr<int>> items) {
    std::vector<bool> even;
    for (const auto& item : items) even.push_back(*item % 2 == 0);
    co_return even;
}

TEST(Batcher, CarriesWhatCanOnlyBeMoved) {
    TestCore test;
    Batcher<std::unique_ptr<int>, bool> batcher(test.core, {}, &tell_even);
    Call call = test.call();
    EXPECT_TRUE(test.run(batcher.add(call, std::make_unique<int>(4))));
    EXPECT_FALSE(test.run(batcher.add(call, std::make_unique<int>(5))));
    test.run(batcher.close());
}

}  // namespace
}  // namespace tenon::runtime
