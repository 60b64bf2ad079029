#include <fmt/format.h>

#include "app/colour.hpp"
#include "app/commands.hpp"
#include "app/probe.hpp"
#include "app/run_state.hpp"

namespace tenon::app {

namespace {

std::string as_text(const Status& status) {
    const auto ready =
        status.ready ? paint(stdout, Tint::green, "yes") : paint(stdout, Tint::red, "no");
    return fmt::format(
        "ready     {}\nurl       {}\nkey       {}\nproject   {}\ndata      {}\npid       {}\n",
        ready, status.url, status.key, status.project, status.data, status.pid);
}

std::string as_environment(const Status& status) {
    // Neither value holds a quote: a URL made here, and a key of letters, digits and '_'.
    return fmt::format("export TENON_URL='{}'\nexport TENON_KEY='{}'\n", status.url, status.key);
}

ExitCode complain_of_none(const std::filesystem::path& data) {
    if (const auto owner = find_owner(data); owner != 0) {
        complain(fmt::format("the `tenon dev` in {} (process {}) is starting or stopping",
                             data.string(), owner));
    } else {
        complain(fmt::format("no `tenon dev` is running in {}; start one with: tenon dev --data {}",
                             data.string(), data.string()));
    }
    return ExitCode::not_ready;
}

ExitCode judge(const Status& status, std::string_view data) {
    if (!status.ready) {
        complain(fmt::format("{}/readyz does not answer 200", status.url));
        return ExitCode::not_ready;
    }
    if (accepts_key(status.url, status.key)) return ExitCode::ok;
    complain(fmt::format(
        "the key of {} is not accepted any more; the next `tenon dev` makes a new one", data));
    return ExitCode::unauthenticated;
}

}  // namespace

ExitCode run_status(const std::filesystem::path& data, OutputForm form) {
    const auto running = find_running(data);
    if (!running) return complain_of_none(data);
    const auto status = status_of(*running, is_ready(running->url));
    print_item(form, status, as_text);
    if (form == OutputForm::env) print(as_environment(status));
    return judge(status, running->data);
}

}  // namespace tenon::app
