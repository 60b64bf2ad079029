#include "app/run_state.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdlib>

#include "app/data_folder.hpp"
#include "runtime/json.hpp"

namespace tenon::app {

namespace fs = std::filesystem;

namespace {

/// A number in a file may be of a process that has ended, and by now of another; the owner of a
/// lock has its file open.
bool has_open(pid_t pid, const fs::path& file) {
    std::error_code error;
    const auto wanted = fs::canonical(file, error);
    if (error) return false;
    for (const auto& handle : fs::directory_iterator(fmt::format("/proc/{}/fd", pid), error)) {
        std::error_code unreadable;
        if (fs::read_symlink(handle.path(), unreadable) == wanted) return true;
    }
    return false;
}

}  // namespace

bool is_owned(const fs::path& data) {
    // The lock, not the file, says who is alive: a crash leaves the file and frees the lock.
    const int lock = open((data / "lock").c_str(), O_RDONLY | O_CLOEXEC);
    if (lock < 0) return false;
    const bool free = flock(lock, LOCK_SH | LOCK_NB) == 0;
    close(lock);
    return !free;
}

pid_t find_owner(const fs::path& data) {
    if (!is_owned(data)) return 0;
    const auto text = read_file(data / "lock").value_or("");
    const auto pid = static_cast<pid_t>(std::strtol(text.c_str(), nullptr, 10));
    return pid > 0 && has_open(pid, data / "lock") ? pid : 0;
}

std::optional<RunState> find_running(const fs::path& data) {
    if (!is_owned(data)) return std::nullopt;
    const auto text = read_file(data / "run.json");
    if (!text) return std::nullopt;
    auto state = runtime::from_json<RunState>(*text);
    if (!state) return std::nullopt;
    return *state;
}

Status status_of(const RunState& state, bool ready) {
    return {.ready = ready,
            .url = state.url,
            .key = state.key,
            .project = state.project,
            .data = state.data,
            .pid = state.pid};
}

}  // namespace tenon::app
