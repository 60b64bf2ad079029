// What a trace is told of real commands.
#include <gmock/gmock.h>

#include "redis/testing.hpp"
#include "runtime/span_queue.hpp"

namespace tenon::redis::testing {

namespace asio = boost::asio;
using ::testing::HasSubstr;
using ::testing::SizeIs;

namespace {

std::string fact(const runtime::EndedSpan& span, std::string_view name) {
    for (const auto& one : span.attributes) {
        if (one.name == name) return std::get<std::string>(one.value);
    }
    return "none";
}

asio::awaitable<void> run_commands(runtime::Core& core, std::vector<runtime::EndedSpan>& ended) {
    core.keep_spans({});
    auto call = make_call(core);
    Client client(core, patient_options());
    co_await client.wait_up(call);
    static_cast<void>(co_await client.command(call, "", {"PING"}));
    call.trace.sampled = true;
    static_cast<void>(co_await client.command(call, "", {"ECHO", "a secret"}));
    const Script script("return ARGV[1]");
    static_cast<void>(co_await client.run(call, script, {}, {"a secret"}));
    EXPECT_THROW(static_cast<void>(co_await client.command(call, "", {"NO-SUCH-COMMAND"})),
                 CommandFailed);
    co_await client.close(call);
    ended = core.spans()->take(100);
    for (const auto& span : ended) EXPECT_EQ(span.trace.parent_id, call.trace.span_id);
}

TEST(RedisSpans, NameCommandsOfSampledCallsAndNothingElse) {
    std::vector<runtime::EndedSpan> ended;
    on_a_core([&ended](runtime::Core& core) { return run_commands(core, ended); });
    ASSERT_THAT(ended, SizeIs(3));
    EXPECT_EQ(ended[0].name, "ECHO");
    EXPECT_EQ(fact(ended[0], "db.system.name"), "redis");
    EXPECT_EQ(fact(ended[0], "db.operation.name"), "ECHO");
    EXPECT_FALSE(ended[0].failed);
    EXPECT_EQ(ended[1].name, "EVALSHA");
    EXPECT_TRUE(ended[2].failed);
    EXPECT_THAT(ended[2].failure, HasSubstr("ERR"));
    for (const auto& span : ended) EXPECT_THAT(span.attributes, SizeIs(2));
}

}  // namespace

}  // namespace tenon::redis::testing
