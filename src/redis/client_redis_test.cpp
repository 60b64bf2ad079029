#include "redis/client.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <set>
#include <string>
#include <vector>

#include "redis/testing.hpp"
#include "runtime/task_group.hpp"

namespace tenon::redis {
namespace {

namespace asio = boost::asio;
using testing::Line;
using testing::on_a_core;
using testing::patient_options;
using testing::ProxyTo;
using namespace std::chrono_literals;

/// How a command ended: "ok", or the name of what was thrown.
asio::awaitable<void> note_outcome(Line& line, std::vector<std::string> words,
                                   std::vector<std::string>& outcomes) {
    std::string outcome = "ok";
    try {
        co_await line.ask(std::move(words));
    } catch (const runtime::DeadlineExceeded&) {
        outcome = "late";
    } catch (const runtime::Unavailable& error) {
        outcome = error.what();
    } catch (const CommandFailed&) {
        outcome = "failed";
    }
    outcomes.push_back(outcome);
}

asio::awaitable<std::string> outcome_of(Line& line, std::vector<std::string> words) {
    std::vector<std::string> outcomes;
    co_await note_outcome(line, std::move(words), outcomes);
    co_return outcomes.front();
}

asio::awaitable<std::int64_t> id_of(Line& line) {
    co_return (co_await line.ask({"CLIENT", "ID"})).integer;
}

asio::awaitable<void> increment(Line& line, std::set<std::int64_t>& seen) {
    seen.insert((co_await line.ask({"INCR", "pipelined"})).integer);
}

asio::awaitable<void> pipeline_many(runtime::Core& core) {
    Line line(core, patient_options());
    co_await line.open();
    co_await line.ask({"DEL", "pipelined"});
    std::set<std::int64_t> seen;
    runtime::TaskGroup group(core.io());
    for (int index = 0; index < 10'000; ++index) group.spawn("increment", increment(line, seen));
    co_await group.join();
    EXPECT_EQ(seen.size(), 10'000u);
    EXPECT_EQ(*seen.rbegin(), 10'000);
    co_await line.close();
}

TEST(Client, TenThousandCallersShareTheConnection) {
    on_a_core(pipeline_many);
}

asio::awaitable<void> round_trip_bytes(runtime::Core& core) {
    Line line(core, patient_options());
    co_await line.open();
    std::string bytes(3 << 20, '\0');
    for (std::size_t index = 0; index < bytes.size(); ++index) {
        bytes[index] = static_cast<char>(index * 31 % 256);
    }
    co_await line.ask({"SET", "bytes", bytes});
    EXPECT_TRUE((co_await line.ask({"GET", "bytes"})).text == bytes);
    EXPECT_EQ((co_await line.ask({"GET", "no such key"})).type, Reply::Type::nil);
    EXPECT_EQ(co_await outcome_of(line, {"INCR", "bytes"}), "failed");
    co_await line.ask({"DEL", "bytes"});
    co_await line.close();
}

TEST(Client, CarriesAnyBytesBothWays) {
    on_a_core(round_trip_bytes);
}

const Script doubled("return tonumber(ARGV[1]) * 2 + #KEYS");

asio::awaitable<void> run_doubled(Line& line, int number, int& right) {
    const Reply reply =
        co_await line.client().run(line.call(), doubled, {"a", "b"}, {std::to_string(number)});
    right += reply.integer == number * 2 + 2 ? 1 : 0;
}

asio::awaitable<void> lose_scripts(runtime::Core& core) {
    Line line(core, patient_options());
    co_await line.open();
    int right = 0;
    for (int round = 0; round < 2; ++round) {
        co_await line.ask({"SCRIPT", "FLUSH"});
        runtime::TaskGroup group(core.io());
        for (int number = 0; number < 200; ++number) {
            group.spawn("script", run_doubled(line, number, right));
        }
        co_await group.join();
    }
    EXPECT_EQ(right, 400);
    co_await line.close();
}

TEST(Client, ScriptsThatTheServerForgotAreSentAgainByEveryCaller) {
    on_a_core(lose_scripts);
}

asio::awaitable<void> kill(runtime::Core& core) {
    Line line(core, patient_options());
    Line admin(core, patient_options());
    co_await line.open();
    co_await admin.open();
    const std::int64_t before = co_await id_of(line);
    std::vector<std::string> outcomes;
    runtime::TaskGroup group(core.io());
    group.spawn("blocked", note_outcome(line, {"BLPOP", "no such list", "0"}, outcomes));
    co_await admin.ask({"CLIENT", "KILL", "ID", std::to_string(before)});
    co_await group.join();
    EXPECT_EQ(outcomes.front(), "lost the connection to Redis: the server closed it");
    EXPECT_FALSE(line.client().is_up());
    EXPECT_EQ(co_await outcome_of(line, {"PING"}), "Redis is away: the server closed it");
    co_await line.open();
    EXPECT_EQ(line.client().why_down(), "");
    EXPECT_NE(co_await id_of(line), before);
    co_await line.close();
    co_await admin.close();
}

TEST(Client, ComesBackAfterItsConnectionWasKilled) {
    on_a_core(kill);
}

asio::awaitable<void> outwait_a_pause(runtime::Core& core) {
    auto options = patient_options();
    ProxyTo proxy(core, options.address);
    options.address = proxy.address();
    Line line(core, options);
    co_await line.open();
    const std::int64_t before = co_await id_of(line);
    proxy.hold();
    line.call().deadline = std::chrono::steady_clock::now() + 10ms;
    EXPECT_EQ(co_await outcome_of(line, {"ECHO", "late"}), "late");
    EXPECT_EQ(co_await outcome_of(line, {"ECHO", "later"}), "late");
    EXPECT_TRUE(line.client().is_up());
    proxy.release();
    line.call() = testing::make_call(core);
    EXPECT_EQ((co_await line.ask({"ECHO", "its own reply"})).text, "its own reply");
    EXPECT_EQ(co_await id_of(line), before);
    co_await line.close();
    co_await proxy.close();
}

TEST(Client, ALateReplyIsDroppedAndTheConnectionStays) {
    on_a_core(outwait_a_pause);
}

asio::awaitable<void> leave_a_stalled_server(runtime::Core& core) {
    auto options = patient_options();
    ProxyTo proxy(core, options.address);
    options.address = proxy.address();
    options.command_timeout = 50ms;
    options.overdue_timeouts = 2;
    Line line(core, options);
    co_await line.open();
    proxy.hold();
    std::string outcome = co_await outcome_of(line, {"PING"});
    EXPECT_EQ(outcome, "late");
    while (outcome == "late") outcome = co_await outcome_of(line, {"PING"});
    EXPECT_NE(outcome.find("no reply for 100 ms"), std::string::npos) << outcome;
    proxy.release();
    co_await line.open();
    EXPECT_EQ(proxy.connections(), 2u);
    while (co_await outcome_of(line, {"PING"}) != "ok") co_await line.open();
    co_await line.close();
    co_await proxy.close();
}

TEST(Client, AConnectionWhoseReplyIsLongOverdueIsLeft) {
    on_a_core(leave_a_stalled_server);
}

asio::awaitable<void> fill(runtime::Core& core) {
    auto options = patient_options();
    options.in_flight_max = 4;
    Line line(core, options);
    co_await line.open();
    std::vector<std::string> outcomes;
    runtime::TaskGroup group(core.io());
    for (int index = 0; index < 10; ++index) {
        group.spawn("ping", note_outcome(line, {"PING"}, outcomes));
    }
    co_await group.join();
    EXPECT_EQ(std::ranges::count(outcomes, "ok"), 4);
    EXPECT_EQ(std::ranges::count(outcomes, "too many commands wait for Redis"), 6);
    EXPECT_EQ(co_await outcome_of(line, {"PING"}), "ok");
    co_await line.close();
}

TEST(Client, OneMoreThanFitsIsRefusedAtOnce) {
    on_a_core(fill);
}

asio::awaitable<void> fill_with_bytes(runtime::Core& core) {
    auto options = patient_options();
    options.unsent_bytes_max = 1'000;
    Line line(core, options);
    co_await line.open();
    std::vector<std::string> outcomes;
    runtime::TaskGroup group(core.io());
    for (int index = 0; index < 3; ++index) {
        group.spawn("echo", note_outcome(line, {"ECHO", std::string(600, 'x')}, outcomes));
    }
    co_await group.join();
    EXPECT_EQ(std::ranges::count(outcomes, "ok"), 2);
    EXPECT_EQ(std::ranges::count(outcomes, "too many commands wait for Redis"), 1);
    co_await line.close();
}

TEST(Client, BytesThatWaitToBeWrittenAreBounded) {
    on_a_core(fill_with_bytes);
}

asio::awaitable<void> authenticate(runtime::Core& core) {
    Line admin(core, patient_options());
    co_await admin.open();
    co_await admin.ask(
        {"ACL", "SETUSER", "visitor", "reset", "on", ">secret", "~*", "+ping", "+acl|whoami"});
    auto options = patient_options();
    options.username = "visitor";
    options.password = "secret";
    Line line(core, options);
    co_await line.open();
    EXPECT_EQ((co_await line.ask({"ACL", "WHOAMI"})).text, "visitor");
    EXPECT_EQ(co_await outcome_of(line, {"GET", "a"}), "failed");
    options.password = "wrong";
    Line refused(core, options);
    while (!refused.client().why_down().starts_with("WRONGPASS")) co_await admin.ask({"PING"});
    EXPECT_TRUE((co_await outcome_of(refused, {"PING"})).starts_with("Redis is away: WRONGPASS"));
    co_await line.close();
    co_await refused.close();
    co_await admin.ask({"ACL", "DELUSER", "visitor"});
    co_await admin.close();
}

TEST(Client, AuthenticatesAndSaysWhyItCannot) {
    on_a_core(authenticate);
}

asio::awaitable<void> find_nobody(runtime::Core& core) {
    auto options = patient_options();
    options.address = "unix:/nowhere/redis.sock";
    Line line(core, options);
    EXPECT_EQ(co_await outcome_of(line, {"PING"}), "Redis is away: not connected yet");
    auto call = core.make_call(200ms);
    bool late = false;
    try {
        co_await line.client().wait_up(call);
    } catch (const runtime::DeadlineExceeded&) {
        late = true;
    }
    EXPECT_TRUE(late);
    EXPECT_EQ(co_await outcome_of(line, {"PING"}), "Redis is away: No such file or directory");
    co_await line.close();
}

TEST(Client, WithoutAServerFailsAtOnceAndSaysWhy) {
    on_a_core(find_nobody);
}

asio::awaitable<void> close_in_flight(runtime::Core& core) {
    Line line(core, patient_options());
    co_await line.open();
    std::vector<std::string> outcomes;
    runtime::TaskGroup group(core.io());
    for (int index = 0; index < 100; ++index) {
        group.spawn("ping", note_outcome(line, {"PING"}, outcomes));
    }
    co_await group.join();
    group.spawn("last", note_outcome(line, {"PING"}, outcomes));
    group.spawn("blocked", note_outcome(line, {"BLPOP", "no such list", "0"}, outcomes));
    co_await asio::post(core.io(), asio::use_awaitable);
    auto call = core.make_call(100ms);
    co_await line.client().close(call);
    co_await group.join();
    EXPECT_EQ(std::ranges::count(outcomes, "ok"), 101);
    EXPECT_EQ(outcomes.back(), "lost the connection to Redis: it was closed");
    EXPECT_EQ(co_await outcome_of(line, {"PING"}), "Redis is away: it was closed");
}

TEST(Client, ClosingWaitsForRepliesUntilItsDeadline) {
    on_a_core(close_in_flight);
}

asio::awaitable<void> cancel_callers(runtime::Core& core) {
    Line line(core, patient_options());
    co_await line.open();
    std::vector<std::string> outcomes;
    runtime::TaskGroup group(core.io());
    for (int index = 0; index < 10; ++index) {
        group.spawn("ping", note_outcome(line, {"PING"}, outcomes));
    }
    co_await asio::post(core.io(), asio::use_awaitable);
    group.cancel();
    co_await group.join();
    EXPECT_TRUE(outcomes.empty());
    EXPECT_EQ((co_await line.ask({"ECHO", "mine"})).text, "mine");
    co_await line.close();
}

TEST(Client, ACallerThatIsCancelledLeavesNothingBehind) {
    on_a_core(cancel_callers);
}

}  // namespace
}  // namespace tenon::redis
