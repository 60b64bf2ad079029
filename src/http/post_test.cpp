#include "http/post.hpp"

#include <gmock/gmock.h>

#include "http/server_fixture_test.hpp"
#include "runtime/failure.hpp"
#include "runtime/test_core.hpp"

namespace tenon::http::testing {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using ::testing::HasSubstr;

namespace {

constexpr const char* default_path = "/v1/traces";

TEST(PostTargets, AreUrlsOfHttp) {
    const auto plain = read_post_target("http://127.0.0.1:4318", default_path);
    ASSERT_TRUE(plain);
    EXPECT_EQ(*plain, (PostTarget{.secure = false,
                                  .host = "127.0.0.1",
                                  .port = "4318",
                                  .path = "/v1/traces",
                                  .authority = "127.0.0.1:4318"}));
    const auto secure = read_post_target("https://[2001:db8::1]/a/b?c=d", default_path);
    ASSERT_TRUE(secure);
    EXPECT_EQ(*secure, (PostTarget{.secure = true,
                                   .host = "2001:db8::1",
                                   .port = "443",
                                   .path = "/a/b?c=d",
                                   .authority = "[2001:db8::1]"}));
    EXPECT_EQ(read_post_target("http://collector/", default_path)->path, default_path);
}

TEST(PostTargets, RefuseAnythingElse) {
    for (const char* bad :
         {"", "127.0.0.1:4318", "collector", "/v1/traces", "ftp://collector/", "http://",
          "http://user:word@collector/", "http://collector/#part", "http://collector:70000/",
          "http://collector:0/", "http://collector/a b", "http:///v1/traces"}) {
        const auto read = read_post_target(bad, default_path);
        ASSERT_FALSE(read) << bad;
        EXPECT_TRUE(read.error().is(errors::invalid_target));
        EXPECT_THAT(read.error().detail(), HasSubstr("http://127.0.0.1:4318/v1/traces"));
    }
}

asio::awaitable<void> take(runtime::Call&, const Request& request, Response& response) {
    if (request.body == "busy") {
        response.set_status(503);
        response.add_header("Retry-After", "7");
    }
    response.set_body("application/json",
                      std::string(request.header("Content-Type").value_or("none"))
                          .append(" ")
                          .append(request.header("Host").value_or(""))
                          .append(request.body));
    co_return;
}

asio::awaitable<void> dawdle(runtime::Call& call, const Request&, Response&) {
    co_await runtime::pause_until(call.deadline);
}

asio::awaitable<void> flood(runtime::Call&, const Request&, Response& response) {
    response.set_body("text/plain", std::string(100'000, 'x'));
    co_return;
}

/// Posts to a server of this room, from a core that the test turns.
class Posting : public ServerTest {
protected:
    Posting() {
        router_.add_raw({.method = Method::post, .path = "/v1/take"}, take);
        router_.add_raw({.method = Method::post, .path = "/v1/dawdle"}, dawdle);
        router_.add_raw({.method = Method::post, .path = "/v1/flood"}, flood);
    }
    std::string url(const std::string& path, const std::string& scheme = "http") const {
        return scheme + "://localhost:" + std::to_string(port()) + path;
    }
    PostAnswer post(const std::string& to, const std::string& body,
                    std::chrono::milliseconds limit = 10s) {
        Poster poster(*read_post_target(to, default_path));
        auto call = test_.call(limit);
        return test_.run(poster.post(call, "application/json", body));
    }
    runtime::TestCore test_;
};

TEST_F(Posting, GivesStatusBodyAndRetryAfter) {
    start();
    const auto answer = post(url("/v1/take"), "{}");
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, "application/json localhost:" + std::to_string(port()) + "{}");
    EXPECT_EQ(answer.retry_after, "");
    const auto busy = post(url("/v1/take"), "busy");
    EXPECT_EQ(busy.status, 503);
    EXPECT_EQ(busy.retry_after, "7");
    EXPECT_EQ(post(url(""), "x").status, 404);
}

TEST_F(Posting, SaysWhyNobodyAnswered) {
    start();
    const auto gone = url("/v1/take");
    server_.reset();
    try {
        static_cast<void>(post(gone, "{}"));
        FAIL() << "somebody answered";
    } catch (const runtime::Unavailable& away) {
        EXPECT_THAT(away.what(), HasSubstr("localhost:"));
        EXPECT_THAT(away.what(), HasSubstr("refused"));
    }
    EXPECT_THROW(static_cast<void>(post("http://no-such-host.invalid/", "{}")),
                 runtime::Unavailable);
}

TEST_F(Posting, LeavesAtItsDeadline) {
    options_.request_timeout = 300ms;
    start();
    EXPECT_THROW(static_cast<void>(post(url("/v1/dawdle"), "{}", 50ms)), runtime::DeadlineExceeded);
}

TEST_F(Posting, TakesNoAnswerWithoutEnd) {
    start();
    EXPECT_THROW(static_cast<void>(post(url("/v1/flood"), "{}")), runtime::Unavailable);
}

TEST_F(Posting, ExpectsTlsOfWhomItAsksByHttps) {
    start();
    EXPECT_THROW(static_cast<void>(post(url("/v1/take", "https"), "{}")), runtime::Unavailable);
}

}  // namespace

}  // namespace tenon::http::testing
