#include "runtime/shutdown.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <latch>
#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/test_core.hpp"

namespace tenon::runtime {
namespace {

namespace asio = boost::asio;
using testing::ElementsAre;
using testing::IsEmpty;

struct House {
    explicit House(std::chrono::milliseconds bound) : shutdown(test.core, bound) {}

    asio::awaitable<void> close(Call&, std::string door) {
        trail.push_back(std::move(door));
        co_return;
    }
    asio::awaitable<void> hang(Call&, std::string door) {
        trail.push_back(std::move(door));
        co_await asio::this_coro::throw_if_cancelled(false);
        co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
        co_await let_go.wait();
    }
    void add_good(const std::string& name) {
        shutdown.add(
            {.name = name, .stop = [this, name](Call& call) { return close(call, name); }});
    }
    void add_stuck(const std::string& name) {
        shutdown.add({.name = name, .stop = [this, name](Call& call) { return hang(call, name); }});
    }

    TestCore test;
    Event let_go{test.core.io()};
    std::vector<std::string> trail;
    Shutdown shutdown;
};

TEST(Shutdown, StopsInOrder) {
    House house(std::chrono::hours(1));
    for (const char* name : {"server", "jobs", "pool"}) house.add_good(name);
    EXPECT_THAT(house.test.run(house.shutdown.run()), IsEmpty());
    EXPECT_THAT(house.trail, ElementsAre("server", "jobs", "pool"));
}

TEST(Shutdown, NamesWhatWasLeftBehindAndGoesOn) {
    House house(std::chrono::milliseconds(10));
    house.add_stuck("server");
    house.add_good("jobs");
    house.add_stuck("pool");
    EXPECT_THAT(house.test.run(house.shutdown.run()), ElementsAre("server", "pool"));
    EXPECT_THAT(house.trail, ElementsAre("server", "jobs", "pool"));
    house.let_go.set();
    house.test.turn();
}

TEST(Shutdown, GivesEveryStepItsShare) {
    House house(std::chrono::hours(4));
    std::vector<std::chrono::nanoseconds> shares;
    const auto note = [&shares](Call& call) -> asio::awaitable<void> {
        shares.push_back(call.remaining());
        co_return;
    };
    house.shutdown.add({.name = "one", .weight = 1, .stop = note});
    house.shutdown.add({.name = "three", .weight = 3, .stop = note});
    EXPECT_THAT(house.test.run(house.shutdown.run()), IsEmpty());
    EXPECT_LE(shares[0], std::chrono::hours(1));
    EXPECT_GT(shares[0], std::chrono::minutes(59));
    EXPECT_GT(shares[1], std::chrono::minutes(239)) << "and what the first left over";
}

TEST(Shutdown, AStepThatThrowsIsNamedAndTheOthersRun) {
    House house(std::chrono::hours(1));
    const auto fail = [](Call&) -> asio::awaitable<void> {
        throw std::runtime_error("no");
        co_return;
    };
    house.shutdown.add({.name = "bad", .stop = fail});
    house.add_good("pool");
    EXPECT_THAT(house.test.run(house.shutdown.run()), ElementsAre("bad"));
    EXPECT_THAT(house.trail, ElementsAre("pool"));
}

/// In a process of its own, since signals belong to the whole process.
[[noreturn]] void signal_twice() {
    prepare_signals();
    std::latch told(1);
    const StopSignals signals([&told](int signal) {
        if (signal == SIGTERM) told.count_down();
    });
    ::kill(::getpid(), SIGTERM);
    told.wait();
    ::kill(::getpid(), SIGINT);
    for (;;) ::pause();
}

[[noreturn]] void signal_once() {
    prepare_signals();
    {
        std::latch told(1);
        const StopSignals signals([&told](int) { told.count_down(); });
        ::kill(::getpid(), SIGINT);
        told.wait();
    }
    ::_exit(7);
}

TEST(StopSignalsDeathTest, TheFirstAsksAndTheSecondEndsAtOnce) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(signal_once(), testing::ExitedWithCode(7), "");
    EXPECT_EXIT(signal_twice(), testing::ExitedWithCode(130), "A second signal came");
}

}  // namespace
}  // namespace tenon::runtime
