#include <unistd.h>

#include <boost/describe.hpp>

#include "app/colour.hpp"
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
    options.coloured = is_coloured(stderr);
    return options;
}

/// Printed once requests are served, for those who start it and wait.
struct Serving {
    std::string url;
    std::int64_t pid = 0;
};
BOOST_DESCRIBE_STRUCT(Serving, (), (url, pid))

void announce(OutputForm form, const std::string& url) {
    print_item(form, Serving{.url = url, .pid = getpid()},
               [](const Serving& serving) { return serving.url + "\n"; });
}

}  // namespace

ExitCode run_serve(const Sources& sources, OutputForm form) {
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
    announce(form, instance.url());
    stop.wait();
    const auto late = instance.stop();
    for (const auto& name : late) {
        runtime::log(runtime::Level::warning, "did not end in time", {{"what", name}});
    }
    runtime::stop_logging();
    return late.empty() ? ExitCode::ok : ExitCode::failed;
}

}  // namespace tenon::app
