#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include "app/commands.hpp"
#include "app/data_folder.hpp"
#include "app/probe.hpp"
#include "app/run_state.hpp"
#include "runtime/json.hpp"

namespace tenon::app {

namespace fs = std::filesystem;

std::optional<RunState> find_running(const fs::path& data) {
    // The lock, not the file, says who is alive: a crash leaves the file and frees the lock.
    const int lock = open((data / "lock").c_str(), O_RDONLY | O_CLOEXEC);
    if (lock < 0) return std::nullopt;
    const bool free = flock(lock, LOCK_SH | LOCK_NB) == 0;
    close(lock);
    if (free) return std::nullopt;
    const auto text = read_file(data / "run.json");
    if (!text) return std::nullopt;
    auto state = runtime::from_json<RunState>(*text);
    if (!state) return std::nullopt;
    return *state;
}

namespace {

/// The status as -o json prints it.
struct Status {
    bool ready = false;
    std::string url;
    std::string key;
    std::string project;
    std::string data;
    std::int64_t pid = 0;
};
BOOST_DESCRIBE_STRUCT(Status, (), (ready, url, key, project, data, pid))

std::string as_text(const Status& status) {
    return fmt::format(
        "ready     {}\nurl       {}\nkey       {}\nproject   {}\ndata      {}\npid       {}\n",
        status.ready ? "yes" : "no", status.url, status.key, status.project, status.data,
        status.pid);
}

std::string as_environment(const Status& status) {
    // Neither value holds a quote: a URL made here, and a key of letters, digits and '_'.
    return fmt::format("export TENON_URL='{}'\nexport TENON_KEY='{}'\n", status.url, status.key);
}

}  // namespace

ExitCode run_status(const fs::path& data, const StatusCommand& command) {
    const auto running = find_running(data);
    if (!running) {
        complain(fmt::format("no `tenon dev` is running in {}; start one with: tenon dev --data {}",
                             data.string(), data.string()));
        return ExitCode::not_ready;
    }
    const Status status{.ready = is_ready(running->url),
                        .url = running->url,
                        .key = running->key,
                        .project = running->project,
                        .data = running->data,
                        .pid = running->pid};
    if (command.form == StatusCommand::Form::text) print(as_text(status));
    if (command.form == StatusCommand::Form::json) print(runtime::to_json(status) + "\n");
    if (command.form == StatusCommand::Form::env) print(as_environment(status));
    return status.ready ? ExitCode::ok : ExitCode::not_ready;
}

}  // namespace tenon::app
