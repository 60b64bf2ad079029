// Bytes on their way to and from Redis that are cut, sliced and damaged, and a server that halts.
#include <gtest/gtest.h>
#include <signal.h>

#include <boost/asio/awaitable.hpp>
#include <set>
#include <string>
#include <vector>

#include "redis/client.hpp"
#include "redis/testing.hpp"
#include "runtime/task_group.hpp"

namespace tenon::redis {
namespace {

namespace asio = boost::asio;
using runtime::FaultPlan;
using runtime::Faults;
using testing::Line;
using testing::on_a_core;
using testing::patient_options;
using testing::ProxyTo;
using namespace std::chrono_literals;

constexpr int callers_total = 20;

/// What the callers of one pipelined exchange heard.
struct Heard {
    std::set<std::string> right;
    std::set<std::string> unsent;  ///< nothing can have happened
    int lost = 0;                  ///< may have happened
    int late = 0;
    int failed = 0;  ///< refused by the server
    int wrong = 0;   ///< another's reply
};

/// Writes a number of its own and gets it back in one command.
const Script note("redis.call('SADD', KEYS[1], ARGV[1]) return ARGV[1]");

asio::awaitable<void> note_number(Line& line, std::string number, Heard& heard) {
    try {
        auto call = line.call();
        const Reply reply = co_await line.client().run(call, note, {"fire"}, {number});
        if (reply.text != number) ++heard.wrong;
        heard.right.insert(number);
    } catch (const runtime::DeadlineExceeded&) {
        ++heard.late;
    } catch (const runtime::Unavailable& away) {
        if (away.advice() == runtime::Advice::repeat) {
            heard.unsent.insert(number);
        } else {
            ++heard.lost;
        }
    } catch (const CommandFailed&) {
        ++heard.failed;
    }
}

asio::awaitable<void> note_many(runtime::Core& core, Line& line, int first, Heard& heard) {
    runtime::TaskGroup group(core.io());
    for (int number = first; number < first + callers_total; ++number) {
        group.spawn("note", note_number(line, std::to_string(number), heard));
    }
    co_await group.join();
}

/// Waits until a command is answered rightly.
asio::awaitable<void> come_back(Line& line) {
    for (;;) {
        co_await line.open();
        Heard heard;
        co_await note_number(line, "back", heard);
        EXPECT_EQ(heard.wrong, 0);
        if (!heard.right.empty()) co_return;
        co_await runtime::pause_for(1ms);
    }
}

/// Compares the server's set with what the callers heard, and empties it.
asio::awaitable<void> judge(Line& direct, const Heard& heard) {
    std::set<std::string> there;
    for (const Reply& item : (co_await direct.ask({"SMEMBERS", "fire"})).items) {
        there.insert(item.text);
    }
    EXPECT_EQ(heard.wrong, 0);
    for (const auto& number : heard.right) EXPECT_TRUE(there.contains(number)) << number;
    for (const auto& number : heard.unsent) EXPECT_FALSE(there.contains(number)) << number;
    co_await direct.ask({"DEL", "fire"});
}

/// One exchange that ends at a byte of one direction, and one after it.
asio::awaitable<void> cut_once(runtime::Core& core, Line& direct, const FaultPlan& plan,
                               Heard& heard) {
    auto options = patient_options();
    ProxyTo proxy(core, options.address);
    options.address = proxy.address();
    Line line(core, options);
    co_await line.open();
    co_await come_back(line);  // the script is known, so every exchange is as long as another
    proxy.afflict(plan);
    co_await note_many(core, line, 0, heard);
    co_await come_back(line);
    Heard after;
    co_await note_many(core, line, 100, after);
    EXPECT_EQ(after.right.size(), static_cast<std::size_t>(callers_total));
    direct.call() = testing::make_call(core);  // the whole test takes longer than one call may
    co_await judge(direct, heard);
    co_await line.close();
    co_await proxy.close();
}

asio::awaitable<void> cut_every_byte(runtime::Core& core) {
    Line direct(core, patient_options());
    co_await direct.open();
    Heard all;
    // "$2\r\n10\r\n" is 8 bytes: the replies of an exchange are 150.
    for (std::size_t at = 0; at < 150; ++at) {
        Heard heard;
        co_await cut_once(core, direct, {.to_client = {.cut_at = at}}, heard);
        EXPECT_GE(heard.lost, 1) << at;
        all.lost += heard.lost;
        all.right.merge(heard.right);
    }
    EXPECT_FALSE(all.right.empty());
    // Its commands are above 80 bytes each.
    for (std::size_t at = 0; at < 1'600; at += 53) {
        Heard heard;
        co_await cut_once(core, direct, {.to_server = {.cut_at = at}}, heard);
        EXPECT_EQ(heard.late + heard.failed, 0) << at;
    }
    co_await direct.close();
}

TEST(Faults, ACutAtEveryByteOfAPipelinedExchange) {
    on_a_core(cut_every_byte);
}

asio::awaitable<void> slice(runtime::Core& core) {
    Line direct(core, patient_options());
    co_await direct.open();
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        auto options = patient_options();
        ProxyTo proxy(core, options.address, seed);
        options.address = proxy.address();
        const Faults slices{.slice_max = seed * seed};
        proxy.plan_next({.to_server = slices, .to_client = slices});
        Line line(core, options);
        co_await line.open();
        Heard heard;
        co_await note_many(core, line, 0, heard);
        EXPECT_EQ(heard.right.size(), static_cast<std::size_t>(callers_total));
        EXPECT_EQ(proxy.connections(), 1U);
        co_await judge(direct, heard);
        co_await line.close();
        co_await proxy.close();
    }
    co_await direct.close();
}

TEST(Faults, RepliesInSlicesOfAnySizeFromOneByteOn) {
    on_a_core(slice);
}

asio::awaitable<void> damage_a_type(runtime::Core& core) {
    auto options = patient_options();
    ProxyTo proxy(core, options.address);
    options.address = proxy.address();
    Line line(core, options);
    co_await line.open();
    co_await come_back(line);
    proxy.afflict({.to_client = {.corrupt_at = 0, .flip = 0x80}});
    Heard heard;
    co_await note_many(core, line, 0, heard);
    EXPECT_EQ(heard.lost, callers_total);
    EXPECT_NE(line.client().why_down().find("Protocol error"), std::string::npos)
        << line.client().why_down();
    co_await come_back(line);
    EXPECT_EQ(proxy.connections(), 2U);
    co_await line.close();
    co_await proxy.close();
}

TEST(Faults, ADamagedTypeOfAReplyEndsTheConnection) {
    on_a_core(damage_a_type);
}

/// What damaged bytes spell may be anything; but every caller hears something, nothing crashes,
/// and the client comes back.
asio::awaitable<void> damage_any(runtime::Core& core) {
    base::SeededRandom random(20'26);
    for (int round = 0; round < 60; ++round) {
        auto options = patient_options();
        ProxyTo proxy(core, options.address);
        options.address = proxy.address();
        options.command_timeout = 100ms;
        options.overdue_timeouts = 2;
        Line line(core, options);
        co_await line.open();
        const Faults damage{.corrupt_at = random.below(150),
                            .flip = static_cast<std::uint8_t>(1U << random.below(8))};
        proxy.afflict(round % 3 == 0 ? FaultPlan{.to_server = damage}
                                     : FaultPlan{.to_client = damage});
        Heard heard;
        co_await note_many(core, line, 0, heard);
        proxy.cut();
        co_await come_back(line);
        co_await line.close();
        co_await proxy.close();
    }
}

TEST(Faults, DamagedBytesNeverCrashAndAreOvercome) {
    on_a_core(damage_any);
}

std::int32_t process_of(const std::string& info) {
    constexpr std::string_view word = "process_id:";
    return std::stoi(info.substr(info.find(word) + word.size()));
}

asio::awaitable<void> halt(runtime::Core& core) {
    auto options = patient_options();
    Line direct(core, options);
    co_await direct.open();
    const std::int32_t server = process_of((co_await direct.ask({"INFO", "server"})).text);
    options.command_timeout = 50ms;
    options.overdue_timeouts = 3;
    Line line(core, options);
    co_await line.open();
    EXPECT_EQ(::kill(server, SIGSTOP), 0);
    Heard heard;
    co_await note_many(core, line, 0, heard);
    EXPECT_EQ(heard.late, callers_total);
    while (line.client().is_up()) co_await runtime::pause_for(1ms);
    EXPECT_EQ(line.client().why_down(), "no reply for 150 ms");
    co_await note_many(core, line, 50, heard);
    EXPECT_EQ(heard.lost, callers_total);  // refused at once while it is away
    EXPECT_EQ(::kill(server, SIGCONT), 0);
    co_await come_back(line);
    co_await judge(direct, heard);
    co_await line.close();
    co_await direct.close();
}

TEST(Frozen, AServerIsLeftAndFoundAgain) {
    on_a_core(halt);
}

}  // namespace
}  // namespace tenon::redis
