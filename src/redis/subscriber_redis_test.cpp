#include "redis/subscriber.hpp"

#include <gtest/gtest.h>

#include <boost/asio/awaitable.hpp>
#include <string>
#include <vector>

#include "redis/testing.hpp"
#include "runtime/wait.hpp"

namespace tenon::redis {
namespace {

namespace asio = boost::asio;
using testing::Line;
using testing::make_call;
using testing::on_a_core;
using testing::patient_options;
using testing::ProxyTo;
using namespace std::chrono_literals;

/// Collects what a subscriber says and lets a test wait for it.
class Log {
public:
    explicit Log(runtime::Core& core) : core_(core), changed_(core.io()) {}

    Subscriber::OnMessage on_message() {
        return [this](std::string_view channel, std::string_view payload) {
            lines_.push_back(std::string(channel) + ": " + std::string(payload));
            changed_.set();
        };
    }
    std::function<void()> on_lost() {
        return [this] {
            lines_.push_back("lost");
            changed_.set();
        };
    }
    /// Returns when `count` lines are there.
    asio::awaitable<void> wait_for(std::size_t count) {
        auto call = make_call(core_);
        while (lines_.size() < count) {
            changed_.reset();
            co_await changed_.wait(call);
        }
    }
    [[nodiscard]] const std::vector<std::string>& lines() const { return lines_; }

private:
    runtime::Core& core_;
    runtime::Event changed_;
    std::vector<std::string> lines_;
};

using Lines = std::vector<std::string>;

asio::awaitable<void> hear_and_lose(runtime::Core& core) {
    auto options = patient_options();
    Line line(core, options);
    co_await line.open();
    ProxyTo proxy(core, options.address);
    options.address = proxy.address();
    Log log(core);
    Subscriber subscriber(core, options, {"first", "second"}, log.on_message(), log.on_lost());
    EXPECT_FALSE(subscriber.is_up());
    co_await log.wait_for(1);
    EXPECT_TRUE(subscriber.is_up());
    co_await line.ask({"PUBLISH", "second", std::string("a\0b", 3)});
    co_await line.ask({"PUBLISH", "third", "nobody hears this"});
    co_await line.ask({"PUBLISH", "first", ""});
    co_await log.wait_for(3);
    proxy.cut();
    co_await log.wait_for(4);
    EXPECT_EQ(subscriber.why_down(), "");
    co_await line.ask({"PUBLISH", "first", "after"});
    co_await log.wait_for(5);
    EXPECT_EQ(log.lines(),
              (Lines{"lost", std::string("second: a\0b", 11), "first: ", "lost", "first: after"}));
    auto call = make_call(core);
    co_await subscriber.close(call);
    EXPECT_FALSE(subscriber.is_up());
    EXPECT_EQ(subscriber.why_down(), "it was closed");
    co_await line.close();
    co_await proxy.close();
}

TEST(Subscriber, SaysWhenItMayHaveMissedMessages) {
    on_a_core(hear_and_lose);
}

asio::awaitable<void> ask_the_silent(runtime::Core& core) {
    auto options = patient_options();
    ProxyTo proxy(core, options.address);
    options.address = proxy.address();
    options.ping_interval = 100ms;
    Log log(core);
    Subscriber subscriber(core, options, {"quiet"}, log.on_message(), log.on_lost());
    co_await log.wait_for(1);
    const std::size_t before = proxy.said("PING");
    while (proxy.said("PING") < before + 2) co_await asio::post(core.io(), asio::use_awaitable);
    EXPECT_EQ(log.lines(), Lines{"lost"});
    proxy.hold();
    while (subscriber.is_up()) co_await asio::post(core.io(), asio::use_awaitable);
    EXPECT_EQ(subscriber.why_down(), "not a word for 100 ms");
    proxy.release();
    co_await log.wait_for(2);
    EXPECT_EQ(log.lines(), (Lines{"lost", "lost"}));
    auto call = make_call(core);
    co_await subscriber.close(call);
    co_await proxy.close();
}

TEST(Subscriber, AsksASilentServerAndLeavesAMuteOne) {
    on_a_core(ask_the_silent);
}

}  // namespace
}  // namespace tenon::redis
