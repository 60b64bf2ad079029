#include "http/body_budget.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "http/errors.hpp"
#include "http/request_stream.hpp"

namespace tenon::http {

namespace {

constexpr std::size_t kibibyte = 1024;

TEST(BodyBudget, GivesWhatItHasAndNoMore) {
    BodyBudget budget(100);
    EXPECT_TRUE(budget.take(60));
    EXPECT_FALSE(budget.take(41));
    EXPECT_EQ(budget.held(), 60u);
    EXPECT_TRUE(budget.has_room_for(40));
    EXPECT_FALSE(budget.has_room_for(41));
    EXPECT_TRUE(budget.take(40));
    EXPECT_FALSE(budget.take(1));
    budget.give_back(100);
    EXPECT_TRUE(budget.take(100));
}

/// A client whose request arrives as far as it is told.
class Sender {
public:
    Sender(const Limits& limits, BufferPool& pool, BodyBudget& budget)
        : stream_(limits, pool, budget) {}

    RequestStream::Event send(std::string_view bytes) {
        RequestStream::Event event = RequestStream::Event::need_more;
        while (!bytes.empty() && event == RequestStream::Event::need_more) {
            const std::span<char> room = stream_.prepare();
            const std::size_t count = std::min(room.size(), bytes.size());
            std::memcpy(room.data(), bytes.data(), count);
            stream_.commit(count);
            bytes.remove_prefix(count);
            event = stream_.next();
        }
        return event;
    }
    [[nodiscard]] RequestStream& stream() { return stream_; }

private:
    RequestStream stream_;
};

class Bodies : public ::testing::Test {
protected:
    static std::string announce(std::size_t bytes) {
        return "POST /b HTTP/1.1\r\nHost: h\r\nContent-Length: " + std::to_string(bytes) +
               "\r\n\r\n";
    }

    Limits limits_;
    BufferPool pool_{limits_.header_bytes_max + 4096};
    BodyBudget budget_{512 * kibibyte};
    Sender first_{limits_, pool_, budget_};
    Sender second_{limits_, pool_, budget_};
};

TEST_F(Bodies, AnnouncingTakesNothing) {
    EXPECT_EQ(first_.send(announce(400 * kibibyte)), RequestStream::Event::need_more);
    EXPECT_EQ(budget_.held(), 0u);
    EXPECT_EQ(second_.send(announce(400 * kibibyte)), RequestStream::Event::need_more);
}

TEST_F(Bodies, WhatArrivedIsCountedUntilTheRequestEnds) {
    first_.send(announce(300 * kibibyte));
    EXPECT_EQ(first_.send(std::string(200 * kibibyte, 'x')), RequestStream::Event::need_more);
    EXPECT_GE(budget_.held(), 200 * kibibyte);
    EXPECT_EQ(first_.send(std::string(100 * kibibyte, 'x')), RequestStream::Event::request);
    EXPECT_EQ(first_.stream().head().request.body, std::string(300 * kibibyte, 'x'));
    EXPECT_GE(budget_.held(), 300 * kibibyte);
    first_.stream().consume();
    EXPECT_EQ(budget_.held(), 0u);
}

TEST_F(Bodies, WithoutRoomABodyIsRefusedBeforeItIsRead) {
    first_.send(announce(300 * kibibyte));
    first_.send(std::string(299 * kibibyte, 'x'));
    EXPECT_EQ(second_.send(announce(300 * kibibyte)), RequestStream::Event::refused);
    EXPECT_EQ(second_.stream().refusal().type, &errors::bodies_exhausted);
    EXPECT_GT(second_.stream().refusal().repeat_after.count(), 0);
}

TEST_F(Bodies, WithoutRoomAChunkedBodyIsRefusedWhereItOutgrowsItsBuffer) {
    first_.send(announce(300 * kibibyte));
    first_.send(std::string(299 * kibibyte, 'x'));
    second_.send("POST /b HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nf0000\r\n");
    EXPECT_EQ(second_.send(std::string(600 * kibibyte, 'x')), RequestStream::Event::refused);
    EXPECT_EQ(second_.stream().refusal().type, &errors::bodies_exhausted);
    second_.stream().release();
    EXPECT_LE(budget_.held(), 512 * kibibyte);
}

TEST_F(Bodies, ASmallBodyNeedsNoRoom) {
    ASSERT_TRUE(budget_.take(512 * kibibyte));
    EXPECT_EQ(first_.send(announce(5) + "hello"), RequestStream::Event::request);
    first_.stream().consume();
}

TEST_F(Bodies, ThoseOfOneConnectionShareWhatItTook) {
    const auto body = announce(300 * kibibyte) + std::string(300 * kibibyte, 'x');
    EXPECT_EQ(first_.send(body + announce(300 * kibibyte) + "x"), RequestStream::Event::request);
    first_.stream().consume();
    EXPECT_EQ(first_.send(std::string(300 * kibibyte - 1, 'x')), RequestStream::Event::request);
    first_.stream().consume();
    EXPECT_EQ(budget_.held(), 0u);
}

TEST_F(Bodies, AClientThatLeavesGivesItsRoomBack) {
    {
        Sender gone(limits_, pool_, budget_);
        gone.send(announce(300 * kibibyte));
        gone.send(std::string(200 * kibibyte, 'x'));
        EXPECT_GT(budget_.held(), 0u);
    }
    EXPECT_EQ(budget_.held(), 0u);
}

}  // namespace

}  // namespace tenon::http
