#include "app/tracing.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_future.hpp>
#include <charconv>
#include <optional>
#include <vector>

#include "app/data_folder.hpp"
#include "app/version.hpp"
#include "base/uuid.hpp"

namespace tenon::app {

namespace asio = boost::asio;

namespace {

std::vector<runtime::SpanQueue*> keep_spans(runtime::Cores& cores, const TraceSection& section) {
    std::vector<runtime::SpanQueue*> queues;
    for (std::size_t i = 0; i < cores.size(); ++i) {
        cores[i].keep_spans({.sample_ratio = section.sample_ratio});
        queues.push_back(cores[i].spans());
    }
    return queues;
}

runtime::ExportOptions export_options(runtime::Core& core, const TraceSection& section) {
    const auto instance = base::make_uuid_v4(core.random());
    return {.source = {.version = version, .instance = base::format_uuid(instance)},
            .timeout = section.otlp_timeout};
}

// A number of seconds; the date that the header may be instead is not worth its grammar.
std::optional<std::chrono::seconds> read_retry_after(const std::string& text) {
    std::uint32_t seconds = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (read.ec != std::errc{} || read.ptr != text.data() + text.size()) return std::nullopt;
    return std::chrono::seconds(seconds);
}

asio::awaitable<runtime::ExportAnswer> post_to(http::Poster& poster, runtime::Call& call,
                                               const std::string& body) {
    const auto answer = co_await poster.post(call, "application/json", body);
    co_return runtime::ExportAnswer{.status = answer.status,
                                    .retry_after = read_retry_after(answer.retry_after),
                                    .body = answer.body};
}

}  // namespace

std::unique_ptr<Tracing> Tracing::make(runtime::Cores& cores, const Config& config) {
    if (config.trace.otlp_endpoint.empty()) return nullptr;
    auto target = http::read_post_target(config.trace.otlp_endpoint, otlp_path);
    if (!target) throw CommandError(target.error().detail());
    return std::make_unique<Tracing>(cores, config.trace, std::move(*target));
}

Tracing::Tracing(runtime::Cores& cores, const TraceSection& section, http::PostTarget target)
    : core_(cores[0]),
      poster_(std::move(target)),
      exporter_(core_, keep_spans(cores, section), export_options(core_, section),
                [this](runtime::Call& call, const std::string& body) {
                    return post_to(poster_, call, body);
                }),
      jobs_(core_) {}

void Tracing::start() {
    asio::post(core_.io(), [this] {
        jobs_.start("app.traces", [this](runtime::Call&) { return exporter_.run(); });
    });
}

void Tracing::stop(std::chrono::milliseconds limit) {
    asio::co_spawn(core_.io(), end(limit), asio::use_future).get();
}

asio::awaitable<void> Tracing::end(std::chrono::milliseconds limit) {
    auto call = core_.make_call(limit);
    // A name that is being looked up is the only thing that may keep the job beyond its share.
    const auto late = co_await jobs_.stop(call.deadline);
    if (late.empty()) co_await exporter_.flush(call);
}

}  // namespace tenon::app
