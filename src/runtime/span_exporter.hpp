// Ended spans of all cores to one collector, without ever holding back who made them.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/backoff.hpp"
#include "runtime/core.hpp"
#include "runtime/metrics.hpp"
#include "runtime/otlp.hpp"
#include "runtime/span_queue.hpp"

namespace tenon::runtime {

/// What a collector answered to a batch.
struct ExportAnswer {
    int status = 0;
    std::optional<std::chrono::seconds> retry_after;
    std::string body;
};

/// What becomes of a batch.
enum class ExportVerdict : std::uint8_t { delivered, repeat, refused };

/// What an answer's status means for its batch.
///
/// Shape:  pure. 2xx delivered; 429, 502, 503 and 504 repeat; all else refused.
/// Source: opentelemetry.io/docs/specs/otlp, "OTLP/HTTP Response" and "Failures".
[[nodiscard]] ExportVerdict judge_export(int status);

/// How long to wait before the same batch is sent again.
///
/// Shape: pure. The backoff, or the collector's Retry-After where that is longer, cut to `most`.
[[nodiscard]] std::chrono::milliseconds pause_before_repeat(
    std::chrono::milliseconds backoff, std::optional<std::chrono::seconds> retry_after,
    std::chrono::seconds most);

/// How spans are exported.
struct ExportOptions {
    SpanSource source{};
    std::chrono::milliseconds timeout{5'000};  ///< of one attempt
    std::chrono::milliseconds every{500};      ///< how often an idle exporter looks
    std::size_t batch_max = 512;               ///< spans of one request
    int attempts_max = 5;                      ///< for one batch; then it is dropped
    base::Backoff::Options backoff{.first = std::chrono::milliseconds(500),
                                   .longest = std::chrono::milliseconds(10'000)};
    std::chrono::seconds retry_after_max{60};  ///< a longer Retry-After is cut to this
};

/// Takes spans from the cores' queues and posts them, one batch at a time.
///
/// Shape:   a batch that cannot be delivered is repeated with backoff, or after the collector's
///          Retry-After, and dropped after the last attempt; what the queues cannot hold meanwhile
///          is dropped there. Every loss is counted by its reason; the log says when delivery
///          begins to fail and when it works again.
/// Expects: the cores outlive it.
/// Threads: its core only.
class SpanExporter {
public:
    /// Posts a body, which outlives the call. Errors: a Failure when no answer came by the call's
    /// deadline.
    using Post = std::function<boost::asio::awaitable<ExportAnswer>(Call&, const std::string&)>;

    SpanExporter(Core& core, std::vector<SpanQueue*> queues, ExportOptions options, Post post);

    /// Exports until cancelled; what was not delivered then is kept for flush().
    boost::asio::awaitable<void> run();
    /// Exports what is left, each batch once and at most until the call's deadline; drops the rest.
    ///
    /// Expects: run() has ended.
    boost::asio::awaitable<void> flush(Call& call);

private:
    struct Attempt {
        ExportVerdict verdict = ExportVerdict::repeat;
        std::optional<std::chrono::seconds> retry_after;
    };

    void gather();
    boost::asio::awaitable<void> deliver();
    boost::asio::awaitable<Attempt> attempt(Call& call);
    void settle(const ExportAnswer& answer);
    void drop(SpanLoss why);
    void note(const std::string& failure);

    Core& core_;
    const std::vector<SpanQueue*> queues_;
    const ExportOptions options_;
    const Post post_;
    std::vector<EndedSpan> batch_;  ///< under way
    std::string body_;              ///< the batch's; the same at every attempt
    std::size_t turns_ = 0;
    std::string failing_;  ///< why delivery fails; empty while it works
    const Counter exported_;
};

}  // namespace tenon::runtime
