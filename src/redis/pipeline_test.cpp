#include "redis/pipeline.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace tenon::redis {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using Words = std::vector<std::string>;

constexpr Pipeline::Instant start{1h};

struct Listener final : Receiver {
    void receive(Reply reply) override { replies.push_back(std::move(reply)); }
    void lose(const Lost& lost) override {
        losses.emplace_back(lost.why);
        was_sent = lost.sent;
    }
    std::vector<Reply> replies;
    std::vector<std::string> losses;
    bool was_sent = false;
};

class PipelineTest : public testing::Test {
protected:
    std::uint64_t push(Listener& listener, Words words = {"PING"}) {
        return pipeline.push(words, listener, start);
    }
    std::string take() {
        std::string bytes = "left from before";
        pipeline.take_output(bytes);
        return bytes;
    }
    Pipeline pipeline;
    Listener first, second, third;
};

TEST_F(PipelineTest, WritesBulkStringsOfAnyBytes) {
    push(first, {"SET", "", "a\0\r\n"s});
    EXPECT_EQ(take(), "*3\r\n$3\r\nSET\r\n$0\r\n\r\n$4\r\na\0\r\n\r\n"s);
    EXPECT_FALSE(pipeline.has_output());
}

TEST_F(PipelineTest, WhatIsQueuedTogetherLeavesTogether) {
    push(first);
    push(second);
    EXPECT_EQ(take(), "*1\r\n$4\r\nPING\r\n*1\r\n$4\r\nPING\r\n");
}

TEST_F(PipelineTest, MatchesRepliesInOrder) {
    push(first);
    push(second);
    push(third);
    take();
    EXPECT_TRUE(pipeline.receive(":1\r\n:2\r"));
    EXPECT_EQ(first.replies.at(0).integer, 1);
    EXPECT_TRUE(second.replies.empty());
    EXPECT_TRUE(pipeline.receive("\n-ERR 3\r\n"));
    EXPECT_EQ(second.replies.at(0).integer, 2);
    EXPECT_EQ(third.replies.at(0).type, Reply::Type::error);
    EXPECT_EQ(pipeline.in_flight(), 0u);
}

TEST_F(PipelineTest, DropsTheReplyOfWhoHasLeft) {
    const auto number = push(first);
    push(second);
    take();
    pipeline.abandon(number);
    EXPECT_EQ(pipeline.in_flight(), 2u);
    EXPECT_TRUE(pipeline.receive(":1\r\n:2\r\n"));
    EXPECT_TRUE(first.replies.empty());
    EXPECT_EQ(second.replies.at(0).integer, 2);
    pipeline.abandon(number);
}

TEST_F(PipelineTest, TellsTheLostWhetherTheyWereSent) {
    push(first);
    take();
    const auto left = push(second);
    push(third);
    pipeline.abandon(left);
    pipeline.lose_all("gone");
    EXPECT_EQ(first.losses, Words{"gone"});
    EXPECT_TRUE(first.was_sent);
    EXPECT_TRUE(second.losses.empty());
    EXPECT_EQ(third.losses, Words{"gone"});
    EXPECT_FALSE(third.was_sent);
    EXPECT_FALSE(pipeline.has_output());
}

TEST_F(PipelineTest, BeginsAnewAfterALossInTheMiddleOfAReply) {
    const auto old = push(first);
    take();
    EXPECT_TRUE(pipeline.receive("$10\r\nabc"));
    pipeline.lose_all("gone");
    const auto number = push(second);
    EXPECT_GT(number, old);
    pipeline.abandon(old);
    take();
    EXPECT_TRUE(pipeline.receive("+PONG\r\n"));
    EXPECT_EQ(second.replies.at(0).text, "PONG");
}

TEST_F(PipelineTest, AReplyNobodyAskedForEndsTheConnection) {
    EXPECT_FALSE(pipeline.receive("-ERR max number of clients reached\r\n"));
    EXPECT_EQ(pipeline.failure(), "the server said: ERR max number of clients reached");
    pipeline.lose_all("gone");
    EXPECT_EQ(pipeline.failure(), "");
    EXPECT_FALSE(pipeline.receive(":1\r\n"));
}

TEST_F(PipelineTest, AReplyBeforeItsCommandWasSentEndsTheConnection) {
    push(first);
    EXPECT_FALSE(pipeline.receive(":1\r\n"));
    EXPECT_TRUE(first.replies.empty());
}

TEST_F(PipelineTest, BrokenBytesEndTheConnection) {
    push(first);
    push(second);
    take();
    EXPECT_FALSE(pipeline.receive(":1\r\nHTTP/1.1 400 Bad Request\r\n"));
    EXPECT_EQ(first.replies.size(), 1u);
    EXPECT_TRUE(second.replies.empty());
    EXPECT_NE(pipeline.failure().find("broke the protocol"), std::string::npos);
}

TEST_F(PipelineTest, KnowsSinceWhenTheOldestWaits) {
    EXPECT_EQ(pipeline.oldest(), std::nullopt);
    push(first);
    pipeline.push(Words{"PING"}, second, start + 1s);
    take();
    EXPECT_EQ(pipeline.oldest(), start);
    EXPECT_TRUE(pipeline.receive(":1\r\n"));
    EXPECT_EQ(pipeline.oldest(), start + 1s);
}

/// Pushes the next command while its reply is handed over, as a woken caller might.
struct Chatty final : Receiver {
    explicit Chatty(Pipeline& line) : pipeline(line) {}
    void receive(Reply) override {
        if (++received < 100) pipeline.push(Words{"PING"}, *this, start);
    }
    void lose(const Lost&) override {}
    Pipeline& pipeline;
    int received = 0;
};

TEST_F(PipelineTest, AReceiverMayPush) {
    Chatty chatty(pipeline);
    pipeline.push(Words{"PING"}, chatty, start);
    std::string bytes;
    for (int round = 0; round < 100; ++round) {
        pipeline.take_output(bytes);
        ASSERT_TRUE(pipeline.receive("+PONG\r\n"));
    }
    EXPECT_EQ(chatty.received, 100);
}

}  // namespace
}  // namespace tenon::redis
