// The protocol without its I/O.
#include "http/request_stream.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "http/errors.hpp"

namespace tenon::http {

namespace {

struct Seen {
    std::vector<std::string> requests;  // "target|body"
    const base::ErrorType* refusal = nullptr;
    bool operator==(const Seen&) const = default;
};

// Feeds `bytes` in slices of `slice` bytes.
Seen feed(std::string_view bytes, std::size_t slice, const Limits& limits) {
    BufferPool pool(limits.header_bytes_max + 4096);
    BodyBudget budget(1 << 30);
    RequestStream stream(limits, pool, budget);
    Seen seen;
    while (!bytes.empty()) {
        const std::span<char> room = stream.prepare();
        const std::size_t count = std::min({room.size(), slice, bytes.size()});
        std::memcpy(room.data(), bytes.data(), count);
        stream.commit(count);
        bytes.remove_prefix(count);
        for (;;) {
            const RequestStream::Event event = stream.next();
            if (event == RequestStream::Event::need_more) break;
            if (event == RequestStream::Event::send_continue) continue;
            if (event == RequestStream::Event::refused) {
                seen.refusal = stream.refusal().type;
                return seen;
            }
            const Request& request = stream.head().request;
            std::string text = std::string(request.target).append("|").append(request.body);
            for (const Header& one : request.headers) {
                text.append("|").append(one.name).append("=").append(one.value);
            }
            seen.requests.push_back(std::move(text));
            stream.consume();
        }
    }
    return seen;
}

const std::string several =
    "\r\nGET /a?x=1 HTTP/1.1\r\nHost: h\r\nX:  padded \t\r\nEmpty:\r\n\r\n"
    "POST /b HTTP/1.1\r\nhost: h\r\nContent-Length: 3\r\n\r\nabc"
    "POST /c HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: Chunked\r\nExpect: 100-continue\r\n\r\n"
    "2;ext=\"v\"\r\nde\r\n3\r\nfgh\r\n0\r\nTrailer: t\r\n\r\n"
    "GET /d HTTP/1.0\r\n\r\n"
    "GET http://a.example HTTP/1.1\r\nHost: h\r\n\r\n";

TEST(RequestStream, GivesTheSameRequestsWhateverTheSlices) {
    const Limits limits;
    const Seen whole = feed(several, several.size(), limits);
    ASSERT_EQ(whole.requests.size(), 5u);
    EXPECT_EQ(whole.requests[0], "/a?x=1||Host=h|X=padded|Empty=");
    EXPECT_EQ(whole.requests[1], "/b|abc|host=h|Content-Length=3");
    EXPECT_TRUE(whole.requests[2].starts_with("/c|defgh|"));
    EXPECT_EQ(whole.refusal, nullptr);
    for (std::size_t slice = 1; slice < 64; ++slice) {
        EXPECT_EQ(feed(several, slice, limits), whole) << slice;
    }
}

TEST(RequestStream, AnEmptyLineInTwoPiecesHidesNothing) {
    const Limits limits;
    const std::string bytes = "\r\n\nGET /a HTTP/1.1\r\nHost: h\r\n\r\n";
    EXPECT_EQ(feed(bytes, bytes.size(), limits).refusal, &errors::malformed);
    EXPECT_EQ(feed(bytes, 1, limits).refusal, &errors::malformed);
}

TEST(RequestStream, GrowsForBodiesWithoutLosingItsViews) {
    const Limits limits;
    const std::string body(700'000, 'x');
    const std::string bytes =
        "POST /b HTTP/1.1\r\nHost: h\r\nContent-Length: 700000\r\n\r\n" + body + several;
    const Seen seen = feed(bytes, 1000, limits);
    ASSERT_EQ(seen.requests.size(), 6u);
    EXPECT_EQ(seen.requests[0], "/b|" + body + "|Host=h|Content-Length=700000");
}

TEST(RequestStream, HoldsNoMemoryBetweenRequests) {
    const Limits limits;
    BufferPool pool(limits.header_bytes_max + 4096);
    BodyBudget budget(1 << 30);
    RequestStream stream(limits, pool, budget);
    char* const first = stream.prepare().data();
    stream.commit(0);
    EXPECT_EQ(stream.next(), RequestStream::Event::need_more);
    // The buffer is back in the pool, so the pool hands out the same one.
    const Buffer again = pool.take();
    EXPECT_EQ(again.bytes.get(), first);
}

TEST(RequestStream, RefusesAtTheBoundAndNotBefore) {
    Limits limits;
    limits.header_bytes_max = 256;
    limits.target_bytes_max = 64;
    limits.body_bytes_max = 10;
    const auto head = [](std::size_t size) {
        const std::string begin = "GET /a HTTP/1.1\r\nHost: h\r\nX: ";
        return begin + std::string(size - begin.size() - 4, 'x') + "\r\n\r\n";
    };
    for (const std::size_t slice : {1u, 7u, 100'000u}) {
        EXPECT_EQ(feed(head(255), slice, limits).requests.size(), 1u);
        EXPECT_EQ(feed(head(256), slice, limits).requests.size(), 1u);
        EXPECT_EQ(feed(head(257), slice, limits).refusal, &errors::header_too_large);
        const std::string target(63, 'a');
        EXPECT_EQ(feed("GET /" + target + " HTTP/1.0\r\n\r\n", slice, limits).requests.size(), 1u);
        EXPECT_EQ(feed("GET /a" + target + " HTTP/1.0\r\n\r\n", slice, limits).refusal,
                  &errors::target_too_long);
        const std::string post = "POST /b HTTP/1.1\r\nHost: h\r\nContent-Length: ";
        EXPECT_EQ(feed(post + "10\r\n\r\n0123456789", slice, limits).requests.size(), 1u);
        EXPECT_EQ(feed(post + "11\r\n\r\n", slice, limits).refusal, &errors::body_too_large);
    }
}

TEST(Head, TakesTheHostlessAbsoluteForm) {
    const Limits limits;
    Head head;
    const auto path_of = [&](const std::string& target) {
        const std::string bytes = "OPTIONS " + target + " HTTP/1.1\r\nHost: h\r\n\r\n";
        EXPECT_FALSE(read_head(bytes, limits, head)) << target;
        return std::string(head.request.path) + "?" + std::string(head.request.query);
    };
    EXPECT_EQ(path_of("http://a.example"), "/?");
    EXPECT_EQ(path_of("HTTPS://a.example?q=1"), "/?q=1");
    EXPECT_EQ(path_of("http://a.example/b?c?d"), "/b?c?d");
    EXPECT_EQ(path_of("*"), "*?");
    EXPECT_EQ(path_of("/a?"), "/a?");
}

TEST(Head, FindsHeadersWithoutCase) {
    const Limits limits;
    Head head;
    ASSERT_FALSE(read_head("GET / HTTP/1.1\r\nHost: h\r\nX-A: 1\r\nx-a: 2\r\n\r\n", limits, head));
    EXPECT_EQ(head.request.header("x-A"), "1");
    EXPECT_EQ(head.request.header("x-b"), std::nullopt);
    EXPECT_TRUE(head.keep_alive);
    ASSERT_FALSE(
        read_head("GET / HTTP/1.1\r\nHost: h\r\nConnection: x, Close\r\n\r\n", limits, head));
    EXPECT_FALSE(head.keep_alive);
}

}  // namespace

}  // namespace tenon::http
