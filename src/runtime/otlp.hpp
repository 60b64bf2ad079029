// Spans as OTLP's JSON, and what a collector answers.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "runtime/span.hpp"

namespace tenon::runtime {

/// Who says it: the resource that all spans of a process belong to.
struct SpanSource {
    std::string service = "tenon";
    std::string version{};
    std::string instance{};  ///< unique to this run of the process
};

/// The body of an ExportTraceServiceRequest.
///
/// Shape:  protobuf's JSON mapping as OTLP narrows it: ids in hexadecimal, 64-bit integers as
///         strings, enumerations as numbers. Text that is not UTF-8 becomes so.
/// Units:  `epoch` is what the steady clock lacks to the time since 1970.
/// Cost:   O(bytes).
/// Source: opentelemetry.io/docs/specs/otlp, "JSON Protobuf Encoding"; trace.proto.
[[nodiscard]] std::string format_otlp(const SpanSource& source, std::span<const EndedSpan> spans,
                                      std::chrono::nanoseconds epoch);

/// How many spans an answer says were refused, though it was a success; 0 when it says nothing
/// that can be read.
///
/// Shape: {"partialSuccess": {"rejectedSpans": "2", "errorMessage": "..."}}.
[[nodiscard]] std::uint64_t read_rejected_spans(std::string_view answer);

}  // namespace tenon::runtime
