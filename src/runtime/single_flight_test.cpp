#include "runtime/single_flight.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <list>
#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/test_core.hpp"

namespace tenon::runtime {
namespace {

namespace asio = boost::asio;
using testing::ElementsAre;

/// Loads "v1", "v2" ... of any key, each held back until its gate opens.
struct Airport {
    explicit Airport(FlightOptions options = {})
        : flights(test.core, options, [this](const std::string& key, const std::string& value) {
              stored.push_back(key + "=" + value);
          }) {}
    ~Airport() { test.run(flights.close()); }

    asio::awaitable<std::string> load(Call&) {
        Event& gate = gates.emplace_back(test.core.io());
        const std::string value = "v" + std::to_string(gates.size());
        co_await gate.wait();
        if (broken) throw std::runtime_error("the true error");
        co_return value;
    }
    void ask(const std::string& key, std::chrono::nanoseconds limit = std::chrono::seconds(60)) {
        Answer& answer = answers.emplace_back();
        answer.call = test.call(limit);
        callers.spawn("ask", fetch(key, answer));
        test.turn();
    }
    struct Answer {
        Call call;
        std::string value;
        std::exception_ptr failure;
    };
    asio::awaitable<void> fetch(std::string key, Answer& answer) {
        try {
            answer.value =
                co_await flights.get(answer.call, key, [this](Call& call) { return load(call); });
        } catch (...) {
            answer.failure = std::current_exception();
        }
    }
    void open(std::size_t load) { std::next(gates.begin(), static_cast<int>(load))->set(); }
    Answer& answer(std::size_t index) {
        return *std::next(answers.begin(), static_cast<int>(index));
    }
    void finish() { test.run(callers.join()); }

    TestCore test;
    std::list<Event> gates;
    std::list<Answer> answers;
    std::vector<std::string> stored;
    bool broken = false;
    TaskGroup callers{test.core.io()};
    SingleFlight<std::string, std::string> flights;
};

TEST(SingleFlight, SharesOneLoadPerKey) {
    Airport airport;
    for (const char* key : {"a", "a", "b", "a"}) airport.ask(key);
    EXPECT_EQ(airport.gates.size(), 2U);
    airport.open(0);
    airport.open(1);
    airport.finish();
    EXPECT_EQ(airport.answer(0).value, "v1");
    EXPECT_EQ(airport.answer(1).value, "v1");
    EXPECT_EQ(airport.answer(2).value, "v2");
    EXPECT_EQ(airport.answer(3).value, "v1");
    EXPECT_THAT(airport.stored, ElementsAre("a=v1", "b=v2"));
}

TEST(SingleFlight, WhoComesAfterTheEndLoadsAnew) {
    Airport airport;
    airport.ask("a");
    airport.open(0);
    airport.finish();
    airport.ask("a");
    airport.open(1);
    airport.finish();
    EXPECT_EQ(airport.answer(1).value, "v2");
}

TEST(SingleFlight, AnInvalidatedLoadIsNotStoredAndLaterOnesLoadAnew) {
    Airport airport;
    airport.ask("a");
    airport.flights.invalidate("a");
    airport.flights.invalidate("never asked for");
    airport.ask("a");
    EXPECT_EQ(airport.gates.size(), 2U);
    airport.open(1);
    airport.test.turn();
    EXPECT_EQ(airport.answer(1).value, "v2");
    airport.open(0);
    airport.finish();
    EXPECT_EQ(airport.answer(0).value, "v1") << "it asked before the invalidation";
    EXPECT_THAT(airport.stored, ElementsAre("a=v2"));
}

TEST(SingleFlight, AVoidedLoadThatEndsFirstLeavesItsSuccessorInPlace) {
    Airport airport;
    airport.ask("a");
    airport.flights.invalidate_all();
    airport.ask("a");
    airport.open(0);
    airport.test.turn();
    airport.ask("a");
    EXPECT_EQ(airport.gates.size(), 2U) << "the third joins the second load";
    airport.open(1);
    airport.finish();
    EXPECT_EQ(airport.answer(2).value, "v2");
    EXPECT_THAT(airport.stored, ElementsAre("a=v2"));
}

TEST(SingleFlight, EveryWaiterGetsTheTrueError) {
    Airport airport;
    airport.broken = true;
    airport.ask("a");
    airport.ask("a");
    airport.open(0);
    airport.finish();
    EXPECT_EQ(describe_failure(airport.answer(0).failure), "the true error");
    EXPECT_EQ(describe_failure(airport.answer(1).failure), "the true error");
    EXPECT_TRUE(airport.stored.empty());
}

TEST(SingleFlight, TheFirstMayLeaveAndTheLoadGoesOn) {
    Airport airport;
    airport.ask("a", std::chrono::milliseconds(5));
    airport.ask("a");
    while (!airport.answer(0).failure) airport.test.core.io().run_one();
    EXPECT_TRUE(is_a<DeadlineExceeded>(airport.answer(0).failure));
    airport.open(0);
    airport.finish();
    EXPECT_EQ(airport.answer(1).value, "v1");
    EXPECT_THAT(airport.stored, ElementsAre("a=v1"));
}

TEST(SingleFlight, ALoadThatHangsIsCancelledAtItsOwnLimit) {
    Airport airport({.run_limit = std::chrono::milliseconds(5)});
    airport.ask("a");
    airport.finish();
    EXPECT_TRUE(is_a<DeadlineExceeded>(airport.answer(0).failure));
    airport.ask("a");
    EXPECT_EQ(airport.gates.size(), 2U) << "the key is free again";
    airport.open(1);
    airport.finish();
    EXPECT_EQ(airport.answer(1).value, "v2");
}

TEST(SingleFlight, RefusesTooManyKeysAndEverythingAfterClose) {
    Airport airport({.flights_max = 1});
    airport.ask("a");
    airport.ask("b");
    EXPECT_TRUE(is_a<Unavailable>(airport.answer(1).failure));
    airport.test.run(airport.flights.close());
    airport.finish();
    EXPECT_TRUE(is_a<Unavailable>(airport.answer(0).failure));
    airport.ask("a");
    EXPECT_TRUE(is_a<Unavailable>(airport.answer(2).failure));
    EXPECT_EQ(airport.flights.size(), 0U);
}

}  // namespace
}  // namespace tenon::runtime
