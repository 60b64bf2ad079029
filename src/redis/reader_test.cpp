#include "redis/reader.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

namespace tenon::redis {
namespace {

using Type = Reply::Type;

Reply make_text(std::string text) {
    return {.type = Type::text, .integer = 0, .text = std::move(text), .items = {}};
}

std::vector<Reply> read_all(Reader& reader, std::string_view bytes) {
    reader.feed(bytes);
    std::vector<Reply> replies;
    while (auto reply = reader.next()) replies.push_back(std::move(*reply));
    return replies;
}

TEST(Reader, ReadsEveryType) {
    Reader reader;
    const auto replies =
        read_all(reader, "+OK\r\n-ERR no\r\n:-42\r\n$2\r\na\n\r\n$-1\r\n*-1\r\n*0\r\n");
    ASSERT_EQ(replies.size(), 7u);
    EXPECT_EQ(replies[0].type, Type::status);
    EXPECT_EQ(replies[0].text, "OK");
    EXPECT_EQ(replies[1].type, Type::error);
    EXPECT_EQ(replies[1].text, "ERR no");
    EXPECT_EQ(replies[2].integer, -42);
    EXPECT_EQ(replies[3], make_text("a\n"));
    EXPECT_EQ(replies[4].type, Type::nil);
    EXPECT_EQ(replies[5].type, Type::nil);
    EXPECT_EQ(replies[6].type, Type::array);
    EXPECT_TRUE(replies[6].items.empty());
}

TEST(Reader, ReadsNestedArrays) {
    Reader reader;
    const auto replies = read_all(reader, "*3\r\n*2\r\n:1\r\n*1\r\n$1\r\nx\r\n$-1\r\n*1\r\n:2\r\n");
    ASSERT_EQ(replies.size(), 1u);
    const Reply& root = replies[0];
    ASSERT_EQ(root.items.size(), 3u);
    EXPECT_EQ(root.items[0].items[0].integer, 1);
    EXPECT_EQ(root.items[0].items[1].items[0], make_text("x"));
    EXPECT_EQ(root.items[1].type, Type::nil);
    EXPECT_EQ(root.items[2].items[0].integer, 2);
}

TEST(Reader, GivesWhatCameBeforeBrokenBytes) {
    Reader reader;
    EXPECT_EQ(read_all(reader, ":1\r\n?what\r\n:2\r\n").size(), 1u);
    EXPECT_TRUE(reader.broken());
    EXPECT_NE(reader.failure(), "");
    EXPECT_TRUE(read_all(reader, ":3\r\n").empty());
    reader.reset();
    EXPECT_EQ(read_all(reader, ":4\r\n").size(), 1u);
}

TEST(Reader, TooDeepIsBroken) {
    Reader reader;
    std::string bytes;
    for (int depth = 0; depth < 100; ++depth) bytes += "*1\r\n";
    EXPECT_TRUE(read_all(reader, bytes).empty());
    EXPECT_TRUE(reader.broken());
}

TEST(Reader, ATextAboveTheLimitIsRefusedBeforeItHasArrived) {
    Reader reader({.bytes_max = 1000});
    EXPECT_TRUE(read_all(reader, "$100000000\r\n").empty());
    EXPECT_FALSE(reader.broken());
    EXPECT_TRUE(read_all(reader, std::string(1100, 'x')).empty());
    EXPECT_TRUE(reader.broken());
}

TEST(Reader, ALineWithoutAnEndIsRefused) {
    Reader reader({.bytes_max = 1000});
    EXPECT_TRUE(read_all(reader, "+" + std::string(1100, 'x')).empty());
    EXPECT_TRUE(reader.broken());
}

TEST(Reader, AnnouncedItemsCostNothingBeforeTheyArrive) {
    Reader reader({.bytes_max = 100 * sizeof(Reply)});
    std::string bytes = "*2000000000\r\n";
    EXPECT_TRUE(read_all(reader, bytes).empty());
    EXPECT_FALSE(reader.broken());
    for (int index = 0; index < 100; ++index) bytes += ":1\r\n";
    EXPECT_TRUE(read_all(reader, bytes.substr(13)).empty());
    EXPECT_TRUE(reader.broken());
}

TEST(Reader, TheLimitIsPerReply) {
    Reader reader({.bytes_max = 10 * sizeof(Reply)});
    for (int index = 0; index < 100; ++index) {
        EXPECT_EQ(read_all(reader, "*2\r\n:1\r\n$3\r\nabc\r\n").size(), 1u);
    }
}

std::string encode(const Reply& reply) {
    switch (reply.type) {
        case Type::nil:
            return "$-1\r\n";
        case Type::status:
            return "+" + reply.text + "\r\n";
        case Type::error:
            return "-" + reply.text + "\r\n";
        case Type::integer:
            return fmt::format(":{}\r\n", reply.integer);
        case Type::text:
            return fmt::format("${}\r\n{}\r\n", reply.text.size(), reply.text);
        case Type::array:
            break;
    }
    std::string bytes = fmt::format("*{}\r\n", reply.items.size());
    for (const Reply& item : reply.items) bytes += encode(item);
    return bytes;
}

Reply any_reply(int depth) {
    Reply reply;
    reply.type = static_cast<Type>(*rc::gen::inRange(0, depth > 0 ? 5 : 4));
    switch (reply.type) {
        case Type::nil:
            break;
        case Type::integer:
            reply.integer = *rc::gen::arbitrary<std::int64_t>();
            break;
        case Type::text:
            reply.text = *rc::gen::arbitrary<std::string>();
            break;
        case Type::status:
        case Type::error:
            reply.text = *rc::gen::container<std::string>(rc::gen::inRange('a', 'z'));
            break;
        case Type::array:
            for (int left = *rc::gen::inRange(0, 5); left > 0; --left) {
                reply.items.push_back(any_reply(depth - 1));
            }
    }
    return reply;
}

RC_GTEST_PROP(ReaderProperty, HoweverTheBytesAreCutTheRepliesAreTheSame, ()) {
    std::vector<Reply> sent;
    std::string bytes;
    for (int left = *rc::gen::inRange(1, 8); left > 0; --left) {
        sent.push_back(any_reply(4));
        bytes += encode(sent.back());
    }
    Reader reader;
    std::vector<Reply> read;
    while (!bytes.empty()) {
        const auto size = *rc::gen::inRange<std::size_t>(1, 24);
        for (Reply& reply : read_all(reader, std::string_view(bytes).substr(0, size))) {
            read.push_back(std::move(reply));
        }
        bytes.erase(0, size);
    }
    RC_ASSERT(!reader.broken());
    RC_ASSERT(read == sent);
}

}  // namespace
}  // namespace tenon::redis
