#include "runtime/otlp.hpp"

#include <fmt/format.h>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <charconv>
#include <iterator>

#include "base/hash.hpp"
#include "runtime/json_text.hpp"
#include "runtime/secret.hpp"

namespace tenon::runtime {

namespace {

namespace json = boost::json;

constexpr int status_error = 2;

void append_pair(std::string& out, std::string_view name, std::string_view text) {
    fmt::format_to(std::back_inserter(out), R"("{}":)", name);
    append_json_string(out, text);
}

void append_attribute(std::string& out, const SpanAttribute& one) {
    out += '{';
    append_pair(out, "key", one.name);
    if (const auto* number = std::get_if<std::int64_t>(&one.value)) {
        fmt::format_to(std::back_inserter(out), R"(,"value":{{"intValue":"{}"}}}})", *number);
        return;
    }
    out += R"(,"value":{)";
    append_pair(out, "stringValue", mask_secrets(std::get<std::string>(one.value)));
    out += "}}";
}

// `append` writes one item.
template <class Items, class Append>
void append_list(std::string& out, std::string_view name, const Items& items, Append append) {
    fmt::format_to(std::back_inserter(out), R"("{}":[)", name);
    bool is_first = true;
    for (const auto& item : items) {
        if (!is_first) out += ',';
        is_first = false;
        append(out, item);
    }
    out += ']';
}

void append_link(std::string& out, const SpanLink& link) {
    fmt::format_to(std::back_inserter(out), R"({{"traceId":"{}","spanId":"{}"}})",
                   base::to_hex(link.trace_id), base::to_hex(link.span_id));
}

std::int64_t unix_nanoseconds(std::chrono::steady_clock::time_point instant,
                              std::chrono::nanoseconds epoch) {
    return (instant.time_since_epoch() + epoch).count();
}

void append_span(std::string& out, const EndedSpan& span, std::chrono::nanoseconds epoch) {
    fmt::format_to(std::back_inserter(out), R"({{"traceId":"{}","spanId":"{}",)",
                   base::to_hex(span.trace.trace_id), base::to_hex(span.trace.span_id));
    if (span.trace.parent_id != SpanId{}) {
        append_pair(out, "parentSpanId", base::to_hex(span.trace.parent_id));
        out += ',';
    }
    if (!span.trace.state.empty()) {
        append_pair(out, "traceState", span.trace.state);
        out += ',';
    }
    append_pair(out, "name", span.name);
    fmt::format_to(std::back_inserter(out),
                   R"(,"kind":{},"startTimeUnixNano":"{}","endTimeUnixNano":"{}","flags":{},)",
                   static_cast<int>(span.kind), unix_nanoseconds(span.begin, epoch),
                   unix_nanoseconds(span.end, epoch), span.trace.sampled ? 1 : 0);
    append_list(out, "attributes", span.attributes, append_attribute);
    out += ',';
    append_list(out, "links", span.links, append_link);
    out += R"(,"status":{)";
    if (span.failed) {
        fmt::format_to(std::back_inserter(out), R"("code":{},)", status_error);
        append_pair(out, "message", mask_secrets(span.failure));
    }
    out += "}}";
}

void append_source(std::string& out, const SpanSource& source) {
    const SpanAttribute facts[] = {{.name = "service.name", .value = source.service},
                                   {.name = "service.version", .value = source.version},
                                   {.name = "service.instance.id", .value = source.instance}};
    out += R"("resource":{)";
    append_list(out, "attributes", facts, append_attribute);
    out += R"(},"scopeSpans":[{"scope":{"name":"tenon",)";
    append_pair(out, "version", source.version);
    out += "},";
}

// A 64-bit integer is a string in this mapping, and a number in what others write.
std::uint64_t count_of(const json::value& value) {
    if (const auto* text = value.if_string()) {
        std::uint64_t number = 0;
        std::from_chars(text->data(), text->data() + text->size(), number);
        return number;
    }
    const auto* number = value.if_int64();
    return number != nullptr && *number > 0 ? static_cast<std::uint64_t>(*number) : 0;
}

}  // namespace

std::string format_otlp(const SpanSource& source, std::span<const EndedSpan> spans,
                        std::chrono::nanoseconds epoch) {
    std::string out = R"({"resourceSpans":[{)";
    append_source(out, source);
    append_list(out, "spans", spans,
                [epoch](std::string& to, const EndedSpan& span) { append_span(to, span, epoch); });
    out += "}]}]}";
    return out;
}

std::uint64_t read_rejected_spans(std::string_view answer) {
    boost::system::error_code refused;
    const json::value read = json::parse({answer.data(), answer.size()}, refused);
    if (refused || !read.is_object()) return 0;
    const json::value* const partial = read.get_object().if_contains("partialSuccess");
    if (partial == nullptr || !partial->is_object()) return 0;
    const json::value* const rejected = partial->get_object().if_contains("rejectedSpans");
    return rejected == nullptr ? 0 : count_of(*rejected);
}

}  // namespace tenon::runtime
