#include "runtime/span_exporter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/clock.hpp"
#include "runtime/failure.hpp"
#include "runtime/log.hpp"
#include "runtime/wait.hpp"

namespace tenon::runtime {

namespace asio = boost::asio;

namespace {

constexpr int status_many_requests = 429;

// Spans are told in the machine's time, also where business time was moved; one reading for a
// batch keeps its spans in their order.
std::chrono::nanoseconds read_epoch() {
    return base::SystemClock().now().time_since_epoch() -
           std::chrono::steady_clock::now().time_since_epoch();
}

}  // namespace

ExportVerdict judge_export(int status) {
    if (status >= 200 && status < 300) return ExportVerdict::delivered;
    const bool passes = status == status_many_requests || (status >= 502 && status <= 504);
    return passes ? ExportVerdict::repeat : ExportVerdict::refused;
}

std::chrono::milliseconds pause_before_repeat(std::chrono::milliseconds backoff,
                                              std::optional<std::chrono::seconds> retry_after,
                                              std::chrono::seconds most) {
    const std::chrono::milliseconds asked =
        std::min(retry_after.value_or(std::chrono::seconds(0)), most);
    return std::max(backoff, asked);
}

SpanExporter::SpanExporter(Core& core, std::vector<SpanQueue*> queues, ExportOptions options,
                           Post post)
    : core_(core),
      queues_(std::move(queues)),
      options_(std::move(options)),
      post_(std::move(post)),
      exported_(metrics().counter(
          {.name = "tenon_trace_spans_exported_total", .help = "Spans that the collector took."})) {
    // Registered here, so that a scrape shows zeros before the first loss.
    for (const auto why :
         {SpanLoss::queue_full, SpanLoss::refused, SpanLoss::unreachable, SpanLoss::shutdown}) {
        static_cast<void>(spans_dropped(why));
    }
}

asio::awaitable<void> SpanExporter::run() {
    while (true) {
        gather();
        if (batch_.size() < options_.batch_max) {
            co_await pause_for(options_.every);
            gather();
        }
        if (!batch_.empty()) co_await deliver();
    }
}

void SpanExporter::gather() {
    body_.clear();
    // Each batch begins with the next core, so that a busy one takes nobody's room.
    for (std::size_t i = 0; i < queues_.size(); ++i) {
        SpanQueue* const queue = queues_[(turns_ + i) % queues_.size()];
        auto taken = queue->take(options_.batch_max - batch_.size());
        std::ranges::move(taken, std::back_inserter(batch_));
    }
    ++turns_;
}

asio::awaitable<void> SpanExporter::deliver() {
    base::Backoff backoff(options_.backoff, core_.random());
    for (int attempts = 1;; ++attempts) {
        Call call = core_.make_call(options_.timeout);
        const Attempt made = co_await attempt(call);
        if (made.verdict != ExportVerdict::repeat) co_return;
        if (attempts >= options_.attempts_max) co_return drop(SpanLoss::unreachable);
        co_await pause_for(
            pause_before_repeat(backoff.next(), made.retry_after, options_.retry_after_max));
    }
}

asio::awaitable<SpanExporter::Attempt> SpanExporter::attempt(Call& call) {
    if (body_.empty()) body_ = format_otlp(options_.source, batch_, read_epoch());
    std::string failure;
    try {
        const ExportAnswer answer = co_await post_(call, body_);
        const ExportVerdict verdict = judge_export(answer.status);
        settle(answer);
        co_return Attempt{.verdict = verdict, .retry_after = answer.retry_after};
    } catch (const Failure& away) {
        failure = away.what();
    }
    note(failure);
    co_return Attempt{};
}

void SpanExporter::settle(const ExportAnswer& answer) {
    const ExportVerdict verdict = judge_export(answer.status);
    if (verdict != ExportVerdict::delivered) {
        note(fmt::format("it answered with status {}", answer.status));
        if (verdict == ExportVerdict::refused) drop(SpanLoss::refused);
        return;
    }
    const auto rejected = std::min<std::uint64_t>(read_rejected_spans(answer.body), batch_.size());
    if (rejected > 0) spans_dropped(SpanLoss::refused).add(rejected);
    exported_.add(batch_.size() - rejected);
    batch_.clear();
    note({});
}

void SpanExporter::drop(SpanLoss why) {
    spans_dropped(why).add(batch_.size());
    batch_.clear();
}

// One line when it begins to fail, one when it works again: spans are not worth more.
void SpanExporter::note(const std::string& failure) {
    if (failing_.empty() == failure.empty()) return;
    failing_ = failure;
    if (failure.empty()) {
        log(Level::info, "The collector takes spans again.");
    } else {
        log(Level::warning, "The collector does not take spans; the metrics count what is lost.",
            {{"reason", failure}});
    }
}

asio::awaitable<void> SpanExporter::flush(Call& call) {
    while (true) {
        gather();
        if (batch_.empty()) co_return;
        if (call.expired()) {
            drop(SpanLoss::shutdown);
            continue;
        }
        Call one = core_.make_call(options_.timeout);
        one.deadline = std::min(one.deadline, call.deadline);
        const Attempt made = co_await attempt(one);
        if (made.verdict == ExportVerdict::repeat) drop(SpanLoss::shutdown);
    }
}

}  // namespace tenon::runtime
