#include "app/commands.hpp"
#include "app/instance.hpp"
#include "app/stop_event.hpp"
#include "runtime/log.hpp"

namespace tenon::app {

namespace {

runtime::LogOptions log_options(const LogSection& section) {
    runtime::LogOptions options;
    options.level = section.level;
    options.form = section.form;
    return options;
}

}  // namespace

ExitCode run_serve(const Sources& sources) {
    const auto loaded = load(sources);
    if (!loaded) {
        complain(loaded.error().detail());
        return ExitCode::failed;
    }
    runtime::start_logging(log_options(loaded->values.log));
    StopEvent stop;
    Instance instance(loaded->values);
    instance.start();
    runtime::log(runtime::Level::info, "requests are served", {{"url", instance.url()}});
    stop.wait();
    const auto late = instance.stop();
    for (const auto& name : late) {
        runtime::log(runtime::Level::warning, "did not end in time", {{"what", name}});
    }
    runtime::stop_logging();
    return late.empty() ? ExitCode::ok : ExitCode::failed;
}

}  // namespace tenon::app
