// What a collector hears of requests, and what handlers hear of their clients.
#include "http/record.hpp"

#include <gmock/gmock.h>

#include <cstdio>
#include <map>

#include "http/server_fixture_test.hpp"
#include "http/trace.hpp"
#include "runtime/log.hpp"
#include "runtime/span.hpp"
#include "runtime/span_queue.hpp"

namespace tenon::http::testing {

namespace asio = boost::asio;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

namespace {

constexpr const char* trace = "0af7651916cd43dd8448eb211c80319c";
constexpr const char* caller = "b7ad6b7169203331";

asio::awaitable<void> tell_client(runtime::Call& call, const Request&, Response& response) {
    const runtime::Span work(call, runtime::SpanKind::internal, "work");
    response.set_body("text/plain", call.client_address);
    co_return;
}

asio::awaitable<void> break_down(runtime::Call&, const Request&, Response& response) {
    response.set_status(503);
    co_return;
}

bool lead_on(runtime::Core&, const Request& request, Response& response) {
    if (request.path != "/here") return false;
    response.set_status(302);
    return true;
}

class Recorded : public ServerTest {
protected:
    Recorded() {
        router_.add_raw({.method = Method::get, .path = "/v1/things/{id}"}, tell_client);
        router_.add_raw({.method = Method::get, .path = "/v1/broken"}, break_down);
        router_.set_fallback(lead_on, tell_client);
    }
    void keep(double ratio) {
        for (std::size_t i = 0; i < cores_.size(); ++i) {
            cores_[i].keep_spans({.sample_ratio = ratio});
        }
    }
    Answer ask(const std::string& line, const std::string& headers = "") {
        Client client(port());
        return client.ask(line + " HTTP/1.1\r\nHost: h\r\n" + headers + "\r\n");
    }
    static std::string parent(const std::string& flags) {
        return std::string("traceparent: 00-") + trace + "-" + caller + "-" + flags + "\r\n";
    }
    /// What was kept on all cores, once they have nothing more to do for earlier answers.
    std::vector<runtime::EndedSpan> kept() {
        cores_.on_each([](runtime::Core&) {});
        std::vector<runtime::EndedSpan> all;
        for (std::size_t i = 0; i < cores_.size(); ++i) {
            auto taken = cores_[i].spans()->take(1'000);
            std::ranges::move(taken, std::back_inserter(all));
        }
        return all;
    }
};

std::string hex(std::span<const std::uint8_t> id) {
    return base::to_hex(id);
}

std::map<std::string, std::string> facts_of(const runtime::EndedSpan& span) {
    std::map<std::string, std::string> all;
    for (const auto& one : span.attributes) {
        const auto* number = std::get_if<std::int64_t>(&one.value);
        all[std::string(one.name)] =
            number != nullptr ? std::to_string(*number) : std::get<std::string>(one.value);
    }
    return all;
}

TEST_F(Recorded, ARequestOfASampledTraceIsItsCallersChild) {
    keep(0);
    start();
    const Answer answer =
        ask("GET /v1/things/7?q=secret", parent("01") + "tracestate: vendor=1\r\n");
    const auto all = kept();
    ASSERT_THAT(all, SizeIs(2));
    const auto& work = all[0];
    const auto& request = all[1];
    EXPECT_EQ(hex(request.trace.trace_id), trace);
    EXPECT_EQ(hex(request.trace.parent_id), caller);
    EXPECT_EQ(hex(request.trace.span_id), answer.header("traceparent").substr(36, 16));
    EXPECT_EQ(request.trace.state, "vendor=1");
    EXPECT_EQ(work.trace.parent_id, request.trace.span_id);
    EXPECT_EQ(work.trace.state, "vendor=1");
    EXPECT_EQ(request.name, "GET /v1/things/{id}");
    EXPECT_EQ(request.kind, runtime::SpanKind::server);
    EXPECT_EQ(facts_of(request),
              (std::map<std::string, std::string>{{"http.request.method", "GET"},
                                                  {"http.route", "/v1/things/{id}"},
                                                  {"http.response.status_code", "200"},
                                                  {"url.path", "/v1/things/7"},
                                                  {"url.scheme", "http"},
                                                  {"client.address", "127.0.0.1"}}));
}

TEST_F(Recorded, ACallerThatDoesNotSampleIsFollowed) {
    keep(1);
    start();
    EXPECT_EQ(ask("GET /v1/things/7", parent("00")).header("traceparent").substr(52), "-00");
    EXPECT_THAT(kept(), IsEmpty());
}

TEST_F(Recorded, TracesThatBeginHereGoByTheRatio) {
    keep(1);
    start();
    const Answer answer = ask("GET /v1/things/7");
    EXPECT_EQ(answer.header("traceparent").substr(52), "-01");
    const auto all = kept();
    ASSERT_THAT(all, SizeIs(2));
    EXPECT_EQ(hex(all[1].trace.trace_id), answer.header("Tenon-Request-Id"));
    EXPECT_EQ(all[1].trace.parent_id, runtime::SpanId{});
}

TEST_F(Recorded, WithoutRatioNothingIsKeptUnasked) {
    keep(0);
    start();
    EXPECT_EQ(ask("GET /v1/things/7").header("traceparent").substr(52), "-00");
    EXPECT_EQ(ask("GET /here").status, 302);
    EXPECT_THAT(kept(), IsEmpty());
}

TEST_F(Recorded, AnswersAtHandHaveSpansToo) {
    keep(0);
    start();
    EXPECT_EQ(ask("GET /here", parent("01")).status, 302);
    EXPECT_EQ(ask("GET /v1/nowhere", parent("01")).status, 404);
    EXPECT_EQ(ask("DELETE /v1/broken", parent("01")).status, 405);
    EXPECT_EQ(ask("OPTIONS /v1/broken", parent("01")).status, 204);
    std::multiset<std::string> names;
    for (const auto& span : kept()) {
        EXPECT_EQ(hex(span.trace.parent_id), caller);
        EXPECT_FALSE(span.failed);
        names.insert(span.name + " " + facts_of(span)["http.response.status_code"]);
    }
    EXPECT_EQ(names, (std::multiset<std::string>{"GET /{code} 302", "GET 404", "DELETE 405",
                                                 "OPTIONS 204"}));
}

TEST_F(Recorded, FaultsOfTheServerAreFailures) {
    keep(0);
    start();
    EXPECT_EQ(ask("GET /v1/broken", parent("01")).status, 503);
    const auto all = kept();
    ASSERT_THAT(all, SizeIs(1));
    EXPECT_TRUE(all[0].failed);
    EXPECT_EQ(facts_of(all[0])["error.type"], "503");
}

TEST_F(Recorded, AtDebugEveryAnswerHasALineThatNamesItsClient) {
    std::FILE* const lines = std::tmpfile();
    runtime::start_logging({.level = runtime::Level::debug,
                            .form = runtime::LogForm::json,
                            .asynchronous = false,
                            .stream = lines});
    options_.trusted_proxies = {"127.0.0.1"};
    start();
    const std::string from = "X-Forwarded-For: 203.0.113.9\r\n";
    const auto trace_id = ask("GET /v1/things/7?q=secret", from).header("Tenon-Request-Id");
    EXPECT_EQ(ask("GET /here", from).status, 302);
    server_.reset();
    runtime::start_logging({.asynchronous = false});
    ASSERT_EQ(std::fseek(lines, 0, SEEK_SET), 0);
    std::string all(4'096, '\0');
    all.resize(std::fread(all.data(), 1, all.size(), lines));
    std::fclose(lines);
    EXPECT_THAT(all, HasSubstr(trace_id + R"(","client":"203.0.113.9","method":"GET",)"
                                          R"("path":"/v1/things/7","status":200,)"));
    EXPECT_THAT(all, HasSubstr(R"("client":"203.0.113.9","method":"GET","path":"/here",)"
                               R"("status":302,)"));
    EXPECT_EQ(all.find("secret"), std::string::npos);
}

TEST_F(Recorded, HandlersAreToldTheClientBehindAnyNumberOfProxies) {
    options_.trusted_proxies = {"127.0.0.1", "10.0.0.0/8"};
    start();
    EXPECT_EQ(ask("GET /v1/things/7").body, "127.0.0.1");
    EXPECT_EQ(ask("GET /v1/things/7", "X-Forwarded-For: 203.0.113.9\r\n").body, "203.0.113.9");
    EXPECT_EQ(ask("GET /v1/things/7", "X-Forwarded-For: 2001:db8::9, 10.0.0.2\r\n").body,
              "2001:db8::9");
    EXPECT_EQ(ask("GET /unknown", "X-Forwarded-For: 1.1.1.1, 203.0.113.9\r\n").body, "203.0.113.9");
}

}  // namespace

}  // namespace tenon::http::testing
