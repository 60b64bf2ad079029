// Typed endpoints as a client meets them.
#include <boost/describe.hpp>
#include <boost/json/parse.hpp>

#include "base/hash.hpp"
#include "http/dispatch.hpp"
#include "http/problem.hpp"
#include "http/server_fixture_test.hpp"
#include "http/trace.hpp"
#include "runtime/failure.hpp"

namespace tenon::http {

namespace testing {

struct ThingPath {
    std::string id;
    std::optional<std::int32_t> limit;
    std::optional<bool> deep;
};
BOOST_DESCRIBE_STRUCT(ThingPath, (), (id, limit, deep))

struct Part {
    std::string name;
    std::int64_t count = 0;
};
BOOST_DESCRIBE_STRUCT(Part, (), (name, count))

struct NewThing {
    std::string name;
    std::optional<std::vector<Part>> parts;
};
BOOST_DESCRIBE_STRUCT(NewThing, (), (name, parts))

struct Thing {
    std::string id;
    std::string seen;
};
BOOST_DESCRIBE_STRUCT(Thing, (), (id, seen))

}  // namespace testing

template <>
struct fields_of<testing::ThingPath> {
    static constexpr FieldSpec list[] = {
        {.name = "id", .meaning = "Which thing", .example = R"("t1")", .length_max = 8},
        {.name = "limit", .meaning = "How many", .example = "10", .minimum = 1, .maximum = 100},
        {.name = "deep", .meaning = "With parts", .example = "true"},
    };
};
template <>
struct fields_of<testing::Part> {
    static constexpr FieldSpec list[] = {
        {.name = "name", .meaning = "Its name", .example = R"("wheel")", .length_max = 5},
        {.name = "count", .meaning = "How many", .example = "4", .minimum = 1, .maximum = 9},
    };
};
template <>
struct fields_of<testing::NewThing> {
    static constexpr FieldSpec list[] = {
        {.name = "name", .meaning = "Its name", .example = R"("cart")", .length_max = 6},
        {.name = "parts", .meaning = "What it has", .example = "[]", .length_max = 2},
    };
};
template <>
struct fields_of<testing::Thing> {
    static constexpr FieldSpec list[] = {
        {.name = "id", .meaning = "Its id", .example = R"("t1")"},
        {.name = "seen", .meaning = "What the handler saw", .example = R"("")"},
    };
};

namespace testing {

namespace {

namespace asio = boost::asio;
namespace json = boost::json;

inline constexpr base::ErrorType thing_sold{"things.sold", base::Kind::conflict, "It is sold"};

asio::awaitable<base::Result<Thing>> show(runtime::Call& call, ThingPath path, Nothing) {
    if (path.id == "late") throw runtime::DeadlineExceeded("too late");
    if (path.id == "away") throw runtime::Unavailable("no engine", std::chrono::seconds(7));
    if (path.id == "bug") throw std::logic_error("a secret of the inside");
    if (path.id == "sold") co_return base::fail(thing_sold, "Choose another thing.");
    const bool short_time = call.remaining() <= std::chrono::milliseconds(800);
    co_return Thing{path.id,
                    fmt::format("limit={} deep={} short={} subject={}", path.limit.value_or(0),
                                path.deep.value_or(false), short_time, call.subject)};
}

asio::awaitable<base::Result<Thing>> make(runtime::Call& call, Nothing, NewThing thing) {
    if (call.claim && call.claim->key == "again") call.claim->replayed = true;
    const std::string print = call.claim ? base::to_hex(call.claim->fingerprint) : "none";
    co_return Thing{thing.name, print};
}

asio::awaitable<base::Result<Nothing>> remove(runtime::Call&, ThingPath, Nothing) {
    co_return Nothing{};
}

class Typed : public ServerTest {
protected:
    Typed() {
        router_.add<ThingPath, Nothing, Thing>({.method = Method::get,
                                                .path = "/v1/things/{id}",
                                                .scope = "things:read",
                                                .summary = "Show a thing",
                                                .errors = {&thing_sold},
                                                .tag = "things"},
                                               show);
        router_.add<Nothing, NewThing, Thing>({.method = Method::post,
                                               .path = "/v1/things",
                                               .scope = "things:write",
                                               .idempotent_by_key = true,
                                               .success = 201,
                                               .summary = "Make a thing",
                                               .tag = "things"},
                                              make);
        router_.add<ThingPath, Nothing, Nothing>({.method = Method::del,
                                                  .path = "/v1/things/{id}",
                                                  .scope = "things:write",
                                                  .summary = "Remove a thing",
                                                  .tag = "things"},
                                                 remove);
        start();
        client_ = std::make_unique<Client>(port());
    }

    Answer get(const std::string& target, const std::string& headers = "",
               const std::string& key = "all") {
        return client_->ask("GET " + target + " HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer " +
                            key + "\r\n" + headers + "\r\n");
    }
    Answer post(const std::string& body, const std::string& headers = "",
                const std::string& key = "all",
                const std::string& type = "Content-Type: application/json\r\n") {
        return client_->ask("POST /v1/things HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer " + key +
                            "\r\n" + type + headers +
                            "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
    }

    std::unique_ptr<Client> client_;
};

// "slug: where=expected; ..." of a problem.
std::string refusals(const Answer& answer) {
    const json::object problem = json::parse(answer.body).as_object();
    std::string text(problem.at("type").as_string().subview(problem_base.size()));
    if (!problem.contains("errors")) return text;
    for (const json::value& one : problem.at("errors").as_array()) {
        const json::object& error = one.as_object();
        const auto* where = error.if_contains("pointer");
        if (where == nullptr) where = &error.at("parameter");
        text.append("; ").append(where->as_string()).append(" = ");
        text.append(error.at("expected").as_string());
    }
    return text;
}

TEST_F(Typed, FillsParametersFromPathAndQuery) {
    const Answer answer = get("/v1/things/a%2Fb+c?deep=true&limit=7");
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.header("Content-Type"), "application/json");
    EXPECT_EQ(answer.body, R"({"id":"a/b+c","seen":"limit=7 deep=true short=false subject="})");
    EXPECT_EQ(get("/v1/things/t1?&").status, 200);
}

TEST_F(Typed, ListsEveryRefusedParameter) {
    EXPECT_EQ(refusals(get("/v1/things/123456789?limit=0&deep=yes&limt=1")),
              "http.invalid_parameters; id = at most 8 characters; limit = an integer from 1 to "
              "100; deep = true or false; limt = no such parameter; did you mean limit?");
    EXPECT_EQ(refusals(get("/v1/things/t?limit=1&limit=2")),
              "http.invalid_parameters; limit = to be given once");
    EXPECT_EQ(refusals(get("/v1/things/t?limit=1x")),
              "http.invalid_parameters; limit = an integer from 1 to 100");
    EXPECT_EQ(refusals(get("/v1/things/t?limit=99999999999999999999")),
              "http.invalid_parameters; limit = an integer from 1 to 100");
    EXPECT_EQ(refusals(get("/v1/things/t?limit=")),
              "http.invalid_parameters; limit = an integer from 1 to 100");
    EXPECT_EQ(refusals(get("/v1/things/t?id=u")), "http.invalid_parameters; id = to be given once");
    for (const char* target : {"/v1/things/%zz", "/v1/things/%4", "/v1/things/%00",
                               "/v1/things/%ff", "/v1/things/%ed%a0%80"}) {
        EXPECT_EQ(refusals(get(target)),
                  "http.invalid_parameters; id = percent-encoded UTF-8 without U+0000")
            << target;
    }
}

TEST_F(Typed, ListsEveryRefusedFieldOfABody) {
    const Answer answer =
        post(R"({"name":"toolong","parts":[{"name":"wheels","count":0},{"name":"x","count":1}]})");
    EXPECT_EQ(answer.status, 400);
    const std::string refused = refusals(answer);
    EXPECT_NE(refused.find("; /name = "), std::string::npos) << refused;
    EXPECT_NE(refused.find("; /parts/0/name = "), std::string::npos) << refused;
    EXPECT_NE(refused.find("; /parts/0/count = "), std::string::npos) << refused;
    EXPECT_EQ(refused.find("/parts/1"), std::string::npos) << refused;
    EXPECT_EQ(post(R"({"name":"a","more":1})").status, 400);
    EXPECT_EQ(post(R"({})").status, 400);
    EXPECT_EQ(post("{\"name\":\"\xff\"}").status, 400);
    EXPECT_EQ(post(R"({"name":"a\u0000"})").status, 400);
    EXPECT_EQ(post("").status, 400);
    // Six characters of more than one byte each are within the bound.
    EXPECT_EQ(post("{\"name\":\"äöüäöü\"}").status, 201);
}

TEST_F(Typed, WantsJson) {
    EXPECT_EQ(post(R"({"name":"a"})", "", "all", "").status, 415);
    EXPECT_EQ(post(R"({"name":"a"})", "", "all", "Content-Type: text/plain\r\n").status, 415);
    EXPECT_EQ(
        post(R"({"name":"a"})", "", "all", "Content-Type: Application/JSON ; charset=utf-8\r\n")
            .status,
        201);
}

TEST_F(Typed, AsksWhoCallsAndWhetherTheyMay) {
    const Answer nobody = client_->ask("GET /v1/things/t HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_EQ(nobody.status, 401);
    EXPECT_EQ(nobody.header("WWW-Authenticate"), "Bearer realm=\"tenon\"");
    const Answer stranger = get("/v1/things/t", "", "stranger");
    EXPECT_EQ(stranger.status, 401);
    EXPECT_NE(stranger.header("WWW-Authenticate").find("invalid_token"), std::string::npos);
    EXPECT_NE(stranger.body.find("No such key."), std::string::npos);
    EXPECT_EQ(get("/v1/things/t", "", "reader").status, 200);
    const Answer limited = post(R"({"name":"a"})", "", "reader");
    EXPECT_EQ(limited.status, 403);
    EXPECT_NE(limited.body.find("things:write"), std::string::npos);
    EXPECT_NE(limited.header("WWW-Authenticate").find("scope=\"things:write\""), std::string::npos);
    EXPECT_NE(get("/v1/things/t", "", "user").body.find("subject=u1"), std::string::npos);
    EXPECT_EQ(get("/v1/things/t", "", "broken").status, 500);
}

TEST_F(Typed, TurnsAKeyIntoAClaim) {
    const auto print = [&](const std::string& body, const std::string& key = "all") {
        const Answer answer = post(body, "Idempotency-Key: k1\r\n", key);
        EXPECT_EQ(answer.status, 201);
        return answer.body;
    };
    const std::string first = print(R"({"name":"a","parts":[]})");
    EXPECT_EQ(print("{ \"parts\" : [], \"name\" : \"\\u0061\" }"), first);
    EXPECT_NE(print(R"({"name":"b","parts":[]})").substr(12), first.substr(12));
    EXPECT_NE(print(R"({"name":"a","parts":[]})", "user"), first);
    EXPECT_NE(post(R"({"name":"a"})").body.find("none"), std::string::npos);
    const Answer replay = post(R"({"name":"a"})", "Idempotency-Key: again\r\n");
    EXPECT_EQ(replay.status, 201);
    EXPECT_EQ(replay.header("Idempotency-Replayed"), "true");
    const std::string longest(255, 'k');
    EXPECT_EQ(post(R"({"name":"a"})", "Idempotency-Key: " + longest + "\r\n").status, 201);
    EXPECT_EQ(post(R"({"name":"a"})", "Idempotency-Key: " + longest + "k\r\n").status, 400);
    EXPECT_EQ(post(R"({"name":"a"})", "Idempotency-Key: a b\r\n").status, 400);
    EXPECT_EQ(refusals(post(R"({"name":"a"})", "Idempotency-Key:\r\n")),
              "http.invalid_header; Idempotency-Key = 1 to 255 printable ASCII characters, no "
              "space");
    // Where there is nothing to repeat, the header means nothing.
    EXPECT_EQ(get("/v1/things/t", "Idempotency-Key: a b\r\n").status, 200);
}

TEST_F(Typed, TurnsFailuresIntoProblems) {
    EXPECT_EQ(refusals(get("/v1/things/sold")), "things.sold");
    EXPECT_EQ(get("/v1/things/sold").status, 409);
    EXPECT_EQ(get("/v1/things/late").status, 504);
    const Answer away = get("/v1/things/away");
    EXPECT_EQ(away.status, 503);
    EXPECT_EQ(away.header("Retry-After"), "7");
    const Answer bug = get("/v1/things/bug");
    EXPECT_EQ(bug.status, 500);
    EXPECT_EQ(bug.body.find("secret"), std::string::npos);
    EXPECT_NE(bug.body.find(bug.header("Tenon-Request-Id")), std::string::npos);
}

TEST_F(Typed, FollowsTheCallersTraceAndTime) {
    const std::string trace = "0af7651916cd43dd8448eb211c80319c";
    const Answer traced =
        get("/v1/things/t", "traceparent: 00-" + trace + "-b7ad6b7169203331-01\r\n");
    EXPECT_EQ(traced.header("Tenon-Request-Id"), trace);
    EXPECT_NE(get("/v1/things/t", "traceparent: 00-x\r\n").header("Tenon-Request-Id"), trace);
    EXPECT_NE(get("/v1/things/t", "Tenon-Timeout: 800ms\r\n").body.find("short=true"),
              std::string::npos);
    EXPECT_NE(get("/v1/things/t", "Tenon-Timeout: 900s\r\n").body.find("short=false"),
              std::string::npos);
    EXPECT_EQ(get("/v1/things/t", "Tenon-Timeout: soon\r\n").status, 400);
}

TEST_F(Typed, AnswersNothingWith204) {
    const Answer answer = client_->ask(
        "DELETE /v1/things/t HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer all\r\n\r\n");
    EXPECT_EQ(answer.status, 204);
    EXPECT_EQ(answer.header("Content-Length"), "");
}

TEST_F(Typed, DocumentsItself) {
    const std::string text = router_.openapi("http://localhost:8080");
    EXPECT_EQ(text, router_.openapi("http://localhost:8080"));
    const json::value document = json::parse(text);
    const json::object& paths = document.at("paths").as_object();
    EXPECT_EQ(paths.size(), 2u);
    EXPECT_TRUE(document.at_pointer("/paths/~1v1~1things~1{id}/delete/responses/204").is_object());
    EXPECT_EQ(document.at_pointer("/paths/~1v1~1things~1{id}/get/parameters/0/in").as_string(),
              "path");
    EXPECT_EQ(document
                  .at_pointer("/paths/~1v1~1things/post/requestBody/content/application~1json"
                              "/schema/$ref")
                  .as_string(),
              "#/components/schemas/http.testing.NewThing");
    const json::object& schemas = document.at_pointer("/components/schemas").as_object();
    EXPECT_TRUE(schemas.contains("http.testing.Part"));
    EXPECT_EQ(document.at_pointer("/components/schemas/http.testing.NewThing/required").as_array(),
              (json::array{"name"}));
    EXPECT_NE(text.find("https://tenon.dev/problems/things.sold"), std::string::npos);
    // Every reference leads somewhere.
    for (std::size_t at = text.find("#/"); at != std::string::npos; at = text.find("#/", at + 1)) {
        const std::string pointer = text.substr(at + 1, text.find('"', at) - at - 1);
        boost::system::error_code missing;
        EXPECT_NE(document.find_pointer(pointer, missing), nullptr) << pointer;
    }
}

TEST(Timeout, ReadsMillisecondsAndSecondsOnly) {
    EXPECT_EQ(parse_timeout("800ms"), std::chrono::milliseconds(800));
    EXPECT_EQ(parse_timeout("2s"), std::chrono::seconds(2));
    for (const char* bad : {"", "0s", "01s", "-1s", "2", "2m", "2 s", "1.5s", "9999999999s", "s"}) {
        EXPECT_EQ(parse_timeout(bad), std::nullopt) << bad;
    }
}

TEST(Traceparent, IsTakenWholeOrNotAtAll) {
    const std::string good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    runtime::Trace trace;
    EXPECT_TRUE(read_traceparent(good, trace));
    EXPECT_TRUE(trace.sampled);
    EXPECT_EQ(trace.trace_id[0], 0x0a);
    EXPECT_TRUE(read_traceparent("01" + good.substr(2) + "-more", trace));
    const runtime::Trace before = trace;
    for (const std::string& bad :
         {std::string(), good + "-more", "ff" + good.substr(2), good.substr(0, 54),
          std::string("00-00000000000000000000000000000000-b7ad6b7169203331-01"),
          std::string("00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01"),
          std::string("00-0AF7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")}) {
        EXPECT_FALSE(read_traceparent(bad, trace)) << bad;
    }
    EXPECT_EQ(trace.trace_id, before.trace_id);
}

TEST(Tracestate, IsPassedOnWithinBounds) {
    const auto read = [](const std::vector<std::string>& lines) {
        Request request;
        for (const std::string& line : lines) request.headers.push_back({"tracestate", line});
        return read_tracestate(request);
    };
    EXPECT_EQ(read({"rojo=00f067aa0ba902b7,congo=t61rcWkgMzE"}),
              "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE");
    EXPECT_EQ(read({" a@b=1 \t,", "", "0_-*/=~ !"}), "a@b=1,0_-*/=~ !");
    EXPECT_EQ(read({}), "");
    for (const char* bad : {"a", "=1", "a=", "A=1", "@a=1", "a=1=2", "a=\t", "a=\x7f", "a b=1"}) {
        EXPECT_EQ(read({"z=1", bad}), "") << bad;
    }
    const std::string long_one = "a=" + std::string(254, 'x');
    EXPECT_EQ(read({long_one}), long_one);
    EXPECT_EQ(read({"a=" + std::string(257, 'x')}), "");
    EXPECT_EQ(read({long_one, long_one}), "");
    std::vector<std::string> members(32, "a=1");
    EXPECT_EQ(read(members).size(), 32 * 4 - 1);
    members.emplace_back("a=1");
    EXPECT_EQ(read(members), "");
}

}  // namespace

}  // namespace testing

}  // namespace tenon::http
