// How long a request, a round trip or a batch took, and what it belonged to.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/call.hpp"

namespace tenon::runtime {

class SpanQueue;

/// What a span is to the one that waits for it; the numbers are OTLP's.
enum class SpanKind : std::uint8_t { internal = 1, server = 2, client = 3 };

/// One fact of a span, named as OpenTelemetry's semantic conventions name it.
///
/// Owns: its text; the name has static lifetime.
struct SpanAttribute {
    std::string_view name;
    std::variant<std::int64_t, std::string> value;
};

/// A span of this trace or another that has to do with one.
struct SpanLink {
    TraceId trace_id{};
    SpanId span_id{};
    bool operator==(const SpanLink&) const = default;
};

/// A span that has ended. `trace.span_id` is its own, `trace.parent_id` its parent's.
struct EndedSpan {
    Trace trace;
    SpanKind kind = SpanKind::internal;
    std::string name;
    std::chrono::steady_clock::time_point begin;
    std::chrono::steady_clock::time_point end;
    std::vector<SpanAttribute> attributes{};
    std::vector<SpanLink> links{};
    bool failed = false;
    std::string failure{};  ///< one sentence, with `failed`
};

/// Times one piece of work for the trace of a call, and keeps it for the exporter when it ends.
///
/// Shape:   nothing at all where the call is not sampled or nobody collects spans; ends with its
///          object at the latest.
/// Threads: the core of the call.
/// Cost:    one branch where the call is not sampled; else some allocations.
class Span {
public:
    /// None.
    Span() = default;
    /// A child of what `call` runs now; `name` is copied.
    Span(const Call& call, SpanKind kind, std::string_view name) {
        if (call.trace.sampled) begin(call, kind, name);
    }
    Span(Span&&) noexcept = default;
    Span& operator=(Span&& other) noexcept;
    ~Span() { end(); }

    /// True when what it is told will be kept.
    explicit operator bool() const { return open_ != nullptr; }
    /// Adds a fact. Expects: `name` has static lifetime.
    void set(std::string_view name, std::string_view text);
    void set(std::string_view name, std::int64_t number);
    /// Marks it as failed; `why` is one sentence, without values of users.
    void fail(std::string why);
    /// The same by what an exception says.
    void fail(const std::exception_ptr& failure);
    /// Ends it now; a second time does nothing.
    void end();

private:
    void begin(const Call& call, SpanKind kind, std::string_view name);

    std::unique_ptr<EndedSpan> open_;
    SpanQueue* queue_ = nullptr;
};

/// Lets the work of `call` belong to the trace that `starter` is of, as its child.
///
/// Shape: for work that is shared by several callers and has a call of its own; nothing changes
///        unless `starter` is sampled.
void follow(Call& call, const Trace& starter);

}  // namespace tenon::runtime
