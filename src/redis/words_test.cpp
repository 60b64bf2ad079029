// The small pure parts: addresses, scripts, greetings, notices, error replies.
#include <gtest/gtest.h>

#include "redis/address.hpp"
#include "redis/client.hpp"
#include "redis/errors.hpp"
#include "redis/session.hpp"
#include "redis/subscription.hpp"

namespace tenon::redis {
namespace {

using Type = Reply::Type;
using Words = std::vector<std::string>;

Reply make(Type type, std::string text) {
    return {.type = type, .integer = 0, .text = std::move(text), .items = {}};
}

Reply array(std::vector<Reply> items) {
    return {.type = Type::array, .integer = 0, .text = {}, .items = std::move(items)};
}

TEST(Address, ReadsPathsAndHosts) {
    EXPECT_EQ(parse_address("unix:/run/redis.sock"), (Address{"/run/redis.sock", "", 0}));
    EXPECT_EQ(parse_address("localhost:6379"), (Address{"", "localhost", 6379}));
    EXPECT_EQ(parse_address("10.0.0.1:1"), (Address{"", "10.0.0.1", 1}));
    EXPECT_EQ(parse_address("[::1]:65535"), (Address{"", "::1", 65535}));
}

TEST(Address, RefusesTheRest) {
    for (const std::string text :
         {"", ":", "unix:", "unix:relative", "host", "host:", "host:0", "host:65536", "host:+1",
          "host:1x", ":6379", "::1:6379", "[]:1", "redis://host:1"}) {
        const auto address = parse_address(text);
        ASSERT_FALSE(address) << text;
        EXPECT_TRUE(address.error().is(errors::invalid_address));
    }
    EXPECT_FALSE(parse_address("unix:/" + std::string(107, 'x')));
    EXPECT_TRUE(parse_address("unix:/" + std::string(106, 'x')));
}

TEST(Script, HasTheServersDigest) {
    EXPECT_EQ(Script("return 1").digest(), "e0e1f9fabfc9d4800c877a703b823ac0578ff8db");
}

TEST(Greeting, AuthenticatesOnlyWithAPassword) {
    ClientOptions options;
    const std::vector<Words> plain{{"CLIENT", "SETNAME", "n"}, {"CLIENT", "ID"}, {"PING"}};
    EXPECT_EQ(greeting(options, "n"), plain);
    options.password = "p";
    EXPECT_EQ(greeting(options, "n").front(), (Words{"AUTH", "p"}));
    options.username = "u";
    EXPECT_EQ(greeting(options, "n").front(), (Words{"AUTH", "u", "p"}));
}

TEST(Greeting, GivesTheIdOrSaysWhatTheServerRefused) {
    Reply id;
    id.type = Type::integer;
    id.integer = 7;
    const Reply good = make(Type::status, "OK");
    const Reply bad = make(Type::error, "WRONGPASS no");
    EXPECT_EQ(read_greeting({good, id, good}), 7);
    EXPECT_EQ(read_greeting({good, good, id, good}), 7);
    EXPECT_EQ(read_greeting({bad, bad, good}), 0);
    EXPECT_THROW((void)read_greeting({bad, good, id, good}), runtime::Unavailable);
    EXPECT_THROW((void)read_greeting({good, id, make(Type::error, "LOADING")}),
                 runtime::Unavailable);
}

TEST(Notice, ReadsWhatASubscribedConnectionSays) {
    const auto text = [](std::string word) { return make(Type::text, std::move(word)); };
    const Notice message = read_notice(array({text("message"), text("c"), text("p")}));
    EXPECT_EQ(message.kind, Notice::Kind::message);
    EXPECT_EQ(message.channel, "c");
    EXPECT_EQ(message.payload, "p");
    EXPECT_EQ(read_notice(array({text("subscribe"), text("c"), Reply{}})).kind,
              Notice::Kind::confirmed);
    EXPECT_EQ(read_notice(array({text("pong"), text("")})).kind, Notice::Kind::pong);
    EXPECT_EQ(read_notice(make(Type::status, "PONG")).kind, Notice::Kind::pong);
    EXPECT_EQ(read_notice(array({})).kind, Notice::Kind::unknown);
    EXPECT_EQ(read_notice(array({text("message"), text("c")})).kind, Notice::Kind::unknown);
    EXPECT_EQ(read_notice(array({text("pmessage"), text("c"), text("p")})).kind,
              Notice::Kind::unknown);
}

TEST(Checked, TellsWhatPassesFromWhatDoesNot) {
    EXPECT_EQ(checked(make(Type::text, "ERR is a value here")).text, "ERR is a value here");
    EXPECT_THROW((void)checked(make(Type::error, "ERR no")), CommandFailed);
    EXPECT_THROW((void)checked(make(Type::error, "LOADINGS are another word")), CommandFailed);
    for (const std::string text : {"LOADING it", "BUSY", "MASTERDOWN x", "CLUSTERDOWN x"}) {
        EXPECT_THROW((void)checked(make(Type::error, text)), runtime::Unavailable) << text;
    }
}

}  // namespace
}  // namespace tenon::redis
