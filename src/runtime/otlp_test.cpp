#include "runtime/otlp.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <boost/json.hpp>
#include <limits>
#include <string>
#include <vector>

namespace tenon::runtime {
namespace {

namespace json = boost::json;
using std::chrono::nanoseconds;
using std::chrono::steady_clock;

constexpr nanoseconds epoch{1'544'712'660'000'000'000};

// The span of the protocol's own example of its JSON, as a span of ours.
EndedSpan example() {
    EndedSpan span;
    span.trace.trace_id = {0x5B, 0x8E, 0xFF, 0xF7, 0x98, 0x03, 0x81, 0x03,
                           0xD2, 0x69, 0xB6, 0x33, 0x81, 0x3F, 0xC6, 0x0C};
    span.trace.span_id = {0xEE, 0xE1, 0x9B, 0x7E, 0xC3, 0xC1, 0xB1, 0x74};
    span.trace.parent_id = {0xEE, 0xE1, 0x9B, 0x7E, 0xC3, 0xC1, 0xB1, 0x73};
    span.trace.sampled = true;
    span.kind = SpanKind::server;
    span.name = "I'm a server span";
    span.begin = steady_clock::time_point(nanoseconds(0));
    span.end = steady_clock::time_point(nanoseconds(1'000'000'000));
    span.attributes = {{.name = "my.span.attr", .value = std::string("some value")}};
    return span;
}

json::object span_of(const EndedSpan& span) {
    const auto whole = json::parse(format_otlp({}, {&span, 1}, epoch));
    return whole.at("resourceSpans").at(0).at("scopeSpans").at(0).at("spans").at(0).as_object();
}

TEST(Otlp, HasTheShapeOfTheProtocolsExample) {
    const auto span = example();
    const SpanSource source{.service = "tenon", .version = "1.2.3", .instance = "one"};
    EXPECT_EQ(format_otlp(source, {&span, 1}, epoch),
              R"({"resourceSpans":[{"resource":{"attributes":[)"
              R"({"key":"service.name","value":{"stringValue":"tenon"}},)"
              R"({"key":"service.version","value":{"stringValue":"1.2.3"}},)"
              R"({"key":"service.instance.id","value":{"stringValue":"one"}}]},)"
              R"("scopeSpans":[{"scope":{"name":"tenon","version":"1.2.3"},"spans":[)"
              R"({"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174",)"
              R"("parentSpanId":"eee19b7ec3c1b173","name":"I'm a server span","kind":2,)"
              R"("startTimeUnixNano":"1544712660000000000",)"
              R"("endTimeUnixNano":"1544712661000000000","flags":1,)"
              R"("attributes":[{"key":"my.span.attr","value":{"stringValue":"some value"}}],)"
              R"("links":[],"status":{}}]}]}]})");
}

TEST(Otlp, MasksWhatLogLinesMask) {
    auto span = example();
    span.attributes = {
        {.name = "url.path", .value = std::string("/tnk_aBcDeFgHiJkLmNoPqRsTuVwXyZ")}};
    span.failed = true;
    span.failure = "refused: host=db password=hunter2";
    const auto shown = json::serialize(span_of(span));
    EXPECT_EQ(shown.find("aBcDeFgHiJ"), std::string::npos) << shown;
    EXPECT_EQ(shown.find("hunter2"), std::string::npos) << shown;
    EXPECT_NE(shown.find("url.path"), std::string::npos);
}

TEST(Otlp, LeavesOutWhatThereIsNot) {
    auto span = example();
    span.trace.parent_id = {};
    EXPECT_FALSE(span_of(span).contains("parentSpanId"));
    EXPECT_FALSE(span_of(span).contains("traceState"));
    span.trace.state = "a=1,b=2";
    EXPECT_EQ(span_of(span).at("traceState").as_string(), "a=1,b=2");
}

TEST(Otlp, WritesIntegersAsTextsAndEnumerationsAsNumbers) {
    auto span = example();
    span.attributes = {{.name = "n", .value = std::numeric_limits<std::int64_t>::max()}};
    span.links = {{.trace_id = span.trace.trace_id, .span_id = span.trace.parent_id}};
    span.failed = true;
    span.failure = "a \"reason\"";
    const auto read = span_of(span);
    EXPECT_EQ(read.at("attributes").at(0).at("value").at("intValue").as_string(),
              "9223372036854775807");
    EXPECT_EQ(read.at("links").at(0).at("spanId").as_string(), "eee19b7ec3c1b173");
    EXPECT_EQ(read.at("status").at("code").as_int64(), 2);
    EXPECT_EQ(read.at("status").at("message").as_string(), "a \"reason\"");
}

RC_GTEST_PROP(Otlp, StaysJsonWhateverASpanSays, (const std::string& text)) {
    auto span = example();
    span.name = text;
    span.failed = true;
    span.failure = text;
    span.trace.state = text;
    span.attributes = {{.name = "url.path", .value = text}};
    const std::vector<EndedSpan> spans{span, span};
    boost::system::error_code refused;
    const auto whole = json::parse(format_otlp({.service = text}, spans, epoch), refused);
    RC_ASSERT(!refused);
    const auto& list = whole.at("resourceSpans").at(0).at("scopeSpans").at(0).at("spans");
    RC_ASSERT(list.as_array().size() == 2U);
}

TEST(Otlp, ReadsHowManySpansWereRefused) {
    EXPECT_EQ(read_rejected_spans(R"({"partialSuccess":{"rejectedSpans":"7"}})"), 7U);
    EXPECT_EQ(read_rejected_spans(R"({"partialSuccess":{"rejectedSpans":7}})"), 7U);
    for (const char* nothing :
         {"", "{}", "[]", "{", R"({"partialSuccess":{}})", R"({"partialSuccess":7})",
          R"({"partialSuccess":{"rejectedSpans":"x"}})",
          R"({"partialSuccess":{"rejectedSpans":-1}})"}) {
        EXPECT_EQ(read_rejected_spans(nothing), 0U) << nothing;
    }
}

}  // namespace
}  // namespace tenon::runtime
