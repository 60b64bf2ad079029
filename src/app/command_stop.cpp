#include <fmt/format.h>

#include <boost/describe.hpp>
#include <chrono>
#include <csignal>

#include "app/commands.hpp"
#include "app/data_folder.hpp"
#include "app/live_process.hpp"
#include "app/run_state.hpp"

namespace tenon::app {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

namespace {

// The server's own bound (15 s) and both engines' (5 + 2 s each), with something to spare.
constexpr auto stop_limit = 40s;

/// What was ended, as printed.
struct Stopped {
    bool stopped = false;
    std::string data;
    std::optional<std::int64_t> pid;
};
BOOST_DESCRIBE_STRUCT(Stopped, (), (stopped, data, pid))

std::string as_text(const Stopped& stopped) {
    if (!stopped.stopped) return fmt::format("nothing runs in {}\n", stopped.data);
    return fmt::format("process {} has ended; its data is in {}\n", stopped.pid.value_or(0),
                       stopped.data);
}

void end(const LiveProcess& owner, const fs::path& data) {
    if (!owner.send(SIGTERM) && !owner.wait(0ms)) {
        throw CommandError(
            fmt::format("process {}, which runs in {}, may not be ended by this user", owner.pid(),
                        data.string()));
    }
    if (owner.wait(stop_limit)) return;
    throw CommandError(
        fmt::format("process {} has not ended after {} s; `kill -9 {}` ends it, and loses no data",
                    owner.pid(), stop_limit.count(), owner.pid()));
}

}  // namespace

ExitCode run_stop(const fs::path& data, OutputForm form) {
    const auto pid = find_owner(data);
    if (pid == 0 && is_owned(data)) {
        throw CommandError(
            fmt::format("{} is in use by a process that cannot be seen from here", data.string()));
    }
    // Held before it is asked for again: from then on the number cannot become another's.
    const auto owner = LiveProcess::find(pid);
    if (pid == 0 || !owner || find_owner(data) != pid) {
        print_item(form, Stopped{.stopped = false, .data = data.string(), .pid = std::nullopt},
                   as_text);
        return ExitCode::ok;
    }
    end(*owner, data);
    print_item(form, Stopped{.stopped = true, .data = data.string(), .pid = pid}, as_text);
    return ExitCode::ok;
}

}  // namespace tenon::app
