// What stands between a client and an endpoint: proxies, browsers, traces.
#include <boost/json/parse.hpp>

#include "http/cors.hpp"
#include "http/problem.hpp"
#include "http/server_fixture_test.hpp"

namespace tenon::http::testing {

namespace asio = boost::asio;

namespace {

asio::awaitable<void> tell_who(runtime::Call&, const Request& request, Response& response) {
    response.set_body(
        "text/plain",
        std::string(request.secure ? "https " : "http ").append(request.remote_address));
    co_return;
}

class Edge : public ServerTest {
protected:
    Edge() {
        router_.add_raw({.method = Method::get, .path = "/v1/who"}, tell_who);
        router_.add_raw({.method = Method::post, .path = "/v1/who"}, tell_who);
        router_.add_raw({.method = Method::get, .path = "/v1/key", .scope = "things:read"},
                        tell_who);
    }

    void start() {
        ServerTest::start();
        client_ = std::make_unique<Client>(port());
    }
    Answer ask(const std::string& line, const std::string& headers = "") {
        return client_->ask(line + " HTTP/1.1\r\nHost: h:80\r\n" + headers + "\r\n");
    }
    std::string who(const std::string& headers) { return ask("GET /v1/who", headers).body; }
    Answer preflight(const std::string& path, const std::string& origin,
                     const std::string& method = "POST") {
        return ask("OPTIONS " + path, "Origin: " + origin +
                                          "\r\nAccess-Control-Request-Method: " + method +
                                          "\r\nAccess-Control-Request-Headers: authorization\r\n");
    }

    std::unique_ptr<Client> client_;
};

std::string slug_of(const Answer& answer) {
    const auto problem = boost::json::parse(answer.body);
    return std::string(problem.at("type").as_string().subview(problem_base.size()));
}

TEST_F(Edge, WithoutTrustedProxiesThePeerIsTheClient) {
    start();
    EXPECT_EQ(who(""), "http 127.0.0.1");
    EXPECT_EQ(who("X-Forwarded-For: 203.0.113.9\r\nX-Forwarded-Proto: https\r\n"),
              "http 127.0.0.1");
    EXPECT_EQ(who("Forwarded: for=203.0.113.9;proto=https\r\n"), "http 127.0.0.1");
}

TEST_F(Edge, BehindProxiesTheClientIsWhomTheyTell) {
    options_.trusted_proxies = {"127.0.0.0/8", "10.0.0.0/8"};
    start();
    EXPECT_EQ(who("X-Forwarded-For: 203.0.113.9\r\n"), "http 203.0.113.9");
    EXPECT_EQ(who("X-Forwarded-For: 198.51.100.1, 2001:db8::9, 10.1.1.1\r\n"
                  "X-Forwarded-Proto: https\r\n"),
              "https 2001:db8::9");
    EXPECT_EQ(who("Forwarded: for=203.0.113.9;proto=https\r\n"), "https 203.0.113.9");
    EXPECT_EQ(who("X-Forwarded-For: nonsense\r\n"), "http 127.0.0.1");
    // The same connection carries other clients' requests too.
    EXPECT_EQ(who(""), "http 127.0.0.1");
}

TEST_F(Edge, OnlyTheListedPeersAreProxies) {
    options_.trusted_proxies = {"127.0.0.1"};
    start();
    Client other(port(), "::1");
    EXPECT_EQ(other
                  .ask("GET /v1/who HTTP/1.1\r\nHost: h\r\n"
                       "X-Forwarded-For: 203.0.113.9\r\nX-Forwarded-Proto: https\r\n\r\n")
                  .body,
              "http ::1");
    EXPECT_EQ(who("X-Forwarded-For: 203.0.113.9\r\n"), "http 203.0.113.9");
}

TEST_F(Edge, RefusesOptionsThatItCannotRead) {
    options_.trusted_proxies = {"10.1.2.3/8"};
    EXPECT_THROW(Server(cores_, router_, keys_, options_), std::runtime_error);
    options_.trusted_proxies.clear();
    options_.cors_origins = {"https://a.example/"};
    EXPECT_THROW(Server(cores_, router_, keys_, options_), std::runtime_error);
}

TEST_F(Edge, WithoutOriginsNoPageMayCall) {
    start();
    const Answer refused = preflight("/v1/who", "https://a.example");
    EXPECT_EQ(refused.status, 403);
    EXPECT_EQ(slug_of(refused), "http.origin_refused");
    EXPECT_NE(refused.body.find("http.cors_origins"), std::string::npos);
    EXPECT_EQ(refused.header("Access-Control-Allow-Origin"), "");
    const Answer answer = ask("GET /v1/who", "Origin: https://a.example\r\n");
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.header("Access-Control-Allow-Origin"), "");
    EXPECT_EQ(answer.header("Vary"), "");
    // Not every OPTIONS is a preflight.
    EXPECT_EQ(ask("OPTIONS /v1/who", "Origin: https://a.example\r\n").status, 204);
}

TEST_F(Edge, ListedOriginsMayCall) {
    options_.cors_origins = {"https://a.example", "http://localhost:5173"};
    start();
    const Answer allowed = preflight("/v1/who", "http://localhost:5173");
    EXPECT_EQ(allowed.status, 204);
    EXPECT_EQ(allowed.header("Access-Control-Allow-Origin"), "http://localhost:5173");
    EXPECT_EQ(allowed.header("Access-Control-Allow-Methods"), "GET, HEAD, POST, OPTIONS");
    for (const char* name : {"Authorization", "Content-Type", "Idempotency-Key", "Tenon-Position",
                             "Tenon-Timeout", "traceparent"}) {
        EXPECT_NE(allowed.header("Access-Control-Allow-Headers").find(name), std::string::npos);
    }
    EXPECT_EQ(allowed.header("Access-Control-Max-Age"), "7200");
    EXPECT_EQ(allowed.header("Access-Control-Allow-Credentials"), "");
    EXPECT_EQ(allowed.header("Vary"), "Origin");
    const Answer answer = ask("GET /v1/who", "Origin: https://a.example\r\n");
    EXPECT_EQ(answer.header("Access-Control-Allow-Origin"), "https://a.example");
    EXPECT_EQ(answer.header("Vary"), "Origin");
    for (const char* name : {"Tenon-Request-Id", "Tenon-Position", "RateLimit", "Retry-After"}) {
        EXPECT_NE(answer.header("Access-Control-Expose-Headers").find(name), std::string::npos);
    }
}

TEST_F(Edge, OtherOriginsAreToldWhyNot) {
    options_.cors_origins = {"https://a.example"};
    start();
    for (const char* origin : {"https://b.example", "http://a.example", "https://a.example:444",
                               "https://a.example.evil.example", "https://A.example", "null"}) {
        const Answer refused = preflight("/v1/who", origin);
        EXPECT_EQ(refused.status, 403) << origin;
        EXPECT_NE(refused.body.find(origin), std::string::npos) << refused.body;
        EXPECT_EQ(refused.header("Access-Control-Allow-Origin"), "");
        EXPECT_EQ(refused.header("Vary"), "Origin");
        const Answer hidden = ask("GET /v1/who", std::string("Origin: ") + origin + "\r\n");
        EXPECT_EQ(hidden.header("Access-Control-Allow-Origin"), "") << origin;
        EXPECT_EQ(hidden.header("Vary"), "Origin");
    }
    EXPECT_EQ(ask("GET /v1/who").header("Vary"), "Origin");
    EXPECT_EQ(slug_of(preflight("/v1/who", "\"}\xff")), "http.origin_refused");
}

TEST_F(Edge, APageCanReadWhyItsCallFailed) {
    options_.cors_origins = {"https://a.example"};
    start();
    const std::string origin = "Origin: https://a.example\r\n";
    for (const char* line : {"GET /v1/key", "GET /v1/nothing", "DELETE /v1/who"}) {
        const Answer answer = ask(line, origin);
        EXPECT_GE(answer.status, 401) << line;
        EXPECT_EQ(answer.header("Access-Control-Allow-Origin"), "https://a.example") << line;
    }
}

TEST_F(Edge, AStarLetsEveryPageCall) {
    options_.cors_origins = {"*"};
    start();
    const Answer allowed = preflight("/v1/who", "https://a.example");
    EXPECT_EQ(allowed.header("Access-Control-Allow-Origin"), "*");
    EXPECT_EQ(allowed.header("Vary"), "");
    EXPECT_EQ(ask("GET /v1/who", "Origin: null\r\n").header("Access-Control-Allow-Origin"), "*");
}

TEST_F(Edge, ShortLinksAreFollowedAndNotRead) {
    options_.cors_origins = {"*"};
    start();
    const Answer visit = ask("GET /abc", "Origin: https://a.example\r\n");
    EXPECT_EQ(visit.status, 302);
    EXPECT_EQ(visit.header("Access-Control-Allow-Origin"), "");
    EXPECT_EQ(
        ask("GET /slow", "Origin: https://a.example\r\n").header("Access-Control-Allow-Origin"),
        "");
    EXPECT_EQ(preflight("/abc", "https://a.example").header("Access-Control-Allow-Origin"), "");
}

TEST(CorsOrigins, AreWhatBrowsersSend) {
    for (const char* good : {"*", "https://a.example", "http://localhost:5173", "http://[::1]:8080",
                             "http://[::1]", "https://a.example:80", "chrome-extension://abcdef"}) {
        EXPECT_FALSE(check_origin(good).has_value()) << good;
    }
    for (const char* bad :
         {"", "a.example", "https://", "https://a.example/", "https://A.example",
          "https://a.example:443", "http://a.example:80", "https://a.example:", "https://*.example",
          "null", "https://a.example:x", "https://u@a.example", "https://a.example?x",
          " https://a.example", "://a.example"}) {
        EXPECT_TRUE(check_origin(bad).has_value()) << bad;
    }
}

TEST_F(Edge, TellsTheTraceToWhoeverAsks) {
    start();
    const std::string trace = "0af7651916cd43dd8448eb211c80319c";
    const std::string parent = "traceparent: 00-" + trace + "-b7ad6b7169203331-01\r\n";
    const Answer joined = ask("GET /v1/who", parent + "tracestate: a=1\r\ntracestate: b=2 , \r\n");
    EXPECT_EQ(joined.header("Tenon-Request-Id"), trace);
    const std::string told = joined.header("traceparent");
    EXPECT_EQ(told.size(), 55u);
    EXPECT_EQ(told.substr(0, 36), "00-" + trace + "-");
    EXPECT_EQ(told.substr(52), "-01");
    EXPECT_NE(told.substr(36, 16), "b7ad6b7169203331");
    EXPECT_EQ(joined.header("tracestate"), "a=1,b=2");
    const Answer alone = ask("GET /v1/who", "tracestate: a=1\r\n");
    EXPECT_EQ(alone.header("traceparent").substr(3, 32), alone.header("Tenon-Request-Id"));
    EXPECT_EQ(alone.header("tracestate"), "");
    EXPECT_EQ(ask("GET /v1/nothing", parent).header("Tenon-Request-Id"), trace);
    EXPECT_EQ(ask("DELETE /v1/who", parent).header("Tenon-Request-Id"), trace);
}

TEST_F(Edge, BelievesNoStrangersRequestId) {
    start();
    const std::string id = "0af7651916cd43dd8448eb211c80319c";
    for (const char* name : {"Tenon-Request-Id", "X-Request-Id"}) {
        const Answer answer = ask("GET /v1/who", std::string(name) + ": " + id + "\r\n");
        EXPECT_EQ(answer.header("Tenon-Request-Id").size(), 32u);
        EXPECT_NE(answer.header("Tenon-Request-Id"), id);
    }
}

TEST_F(Edge, TakesOverAProxysRequestId) {
    options_.trusted_proxies = {"127.0.0.1"};
    start();
    const std::string id = "0af7651916cd43dd8448eb211c80319c";
    const auto taken = [&](const std::string& headers) {
        return ask("GET /v1/who", headers).header("Tenon-Request-Id");
    };
    EXPECT_EQ(taken("X-Request-Id: " + id + "\r\n"), id);
    EXPECT_EQ(taken("X-Request-Id: 0AF76519-16CD-43DD-8448-EB211C80319C\r\n"), id);
    EXPECT_EQ(taken("X-Request-Id: x\r\nTenon-Request-Id: " + id + "\r\n"), id);
    const std::string other = "ffffffffffffffffffffffffffffffff";
    EXPECT_EQ(
        taken("X-Request-Id: " + id + "\r\ntraceparent: 00-" + other + "-b7ad6b7169203331-00\r\n"),
        other);
    for (const std::string& bad :
         {std::string("x"), std::string(), std::string(32, '0'), id + "0", id.substr(1), "g" + id,
          std::string("0af7651916-cd43dd8448-eb211c80-319c0"), "g" + id.substr(1)}) {
        EXPECT_EQ(taken("X-Request-Id: " + bad + "\r\n").size(), 32u);
        EXPECT_NE(taken("X-Request-Id: " + bad + "\r\n"), bad);
    }
}

}  // namespace

}  // namespace tenon::http::testing
