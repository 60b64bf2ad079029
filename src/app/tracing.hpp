// Traces of a whole process: kept on its cores, exported from the first.
#pragma once

#include <chrono>
#include <memory>

#include "app/config.hpp"
#include "http/post.hpp"
#include "runtime/core.hpp"
#include "runtime/span_exporter.hpp"
#include "runtime/supervisor.hpp"

namespace tenon::app {

/// Where OTLP/HTTP goes when the configured URL has no path.
inline constexpr const char* otlp_path = "/v1/traces";

/// Exports the spans of all cores.
///
/// Owns:    the exporter and its job, on the first core.
/// Threads: made before the cores run; start() and stop() from a thread that is no core's.
class Tracing {
public:
    /// nullptr when no collector is configured: then nothing is kept, and nothing leaves.
    ///
    /// Expects: a checked configuration; `cores` outlive it and do not run yet.
    [[nodiscard]] static std::unique_ptr<Tracing> make(runtime::Cores& cores, const Config& config);

    Tracing(runtime::Cores& cores, const TraceSection& section, http::PostTarget target);

    void start();
    /// Exports what is left, within `limit`; the rest is counted as dropped.
    void stop(std::chrono::milliseconds limit);

private:
    boost::asio::awaitable<void> end(std::chrono::milliseconds limit);

    runtime::Core& core_;
    http::Poster poster_;
    runtime::SpanExporter exporter_;
    runtime::Supervisor jobs_;
};

}  // namespace tenon::app
