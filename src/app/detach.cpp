#include "app/detach.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <iterator>
#include <system_error>

#include "app/banner.hpp"
#include "app/data_folder.hpp"
#include "app/live_process.hpp"
#include "app/probe.hpp"
#include "app/run_state.hpp"
#include "app/stop_event.hpp"

namespace tenon::app {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

namespace {

// A first start makes a cluster, which may take a minute on a busy machine, and waits for both
// engines.
constexpr auto start_limit = 150s;
constexpr auto end_limit = 40s;
constexpr auto look_every = 50ms;
constexpr std::size_t lines_shown = 10;

/// The log of servers without a terminal, and where this one's part of it begins.
struct Log {
    fs::path path;
    int descriptor = -1;
    off_t begin = 0;
};

Log open_log(const fs::path& data) {
    make_folder(data / "log", std::nullopt);
    const auto file = log_of(data);
    Log log{.path = file.path(), .descriptor = file.open()};
    log.begin = lseek(log.descriptor, 0, SEEK_END);
    return log;
}

/// The last lines that this server wrote; an earlier one's are left out.
std::string last_words(const Log& log) {
    std::ifstream file(log.path);
    file.seekg(log.begin);
    std::string text(std::istreambuf_iterator<char>(file), {});
    std::size_t begin = text.size();
    for (std::size_t lines = 0; begin > 0; --begin) {
        if (text[begin - 1] == '\n' && begin < text.size() && ++lines == lines_shown) break;
    }
    return text.substr(begin);
}

void become_server(const Log& log) {
    setsid();
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(log.descriptor, STDOUT_FILENO) < 0 ||
        dup2(log.descriptor, STDERR_FILENO) < 0) {
        _exit(to_int(ExitCode::failed));
    }
    // What the terminal's shell had open (a pipe, a lock) is not the server's to keep.
    close_range(STDERR_FILENO + 1, ~0U, 0);
}

/// The one that waits.
class Watcher {
public:
    Watcher(const DevOptions& options, const Log& log, LiveProcess server)
        : options_(options), log_(log), server_(std::move(server)) {}

    ExitCode watch() {
        const auto until = began_ + start_limit;
        while (std::chrono::steady_clock::now() < until) {
            const std::array watched{server_.descriptor()};
            if (stop_.wait_or(watched, look_every)) return give_up(ExitCode::interrupted);
            if (server_.wait(0ms)) return tell_end();
            const auto state = find_running(options_.data);
            if (state && state->pid == server_.pid() && is_ready(state->url)) return tell(*state);
        }
        complain(fmt::format("/readyz does not answer 200 after {} s", start_limit.count()));
        return give_up(ExitCode::not_ready);
    }

private:
    ExitCode tell(const RunState& state) const {
        const auto engines = read_file(options_.data / "where").value_or("");
        const BannerFacts facts{.state = state,
                                .engines = engines.substr(0, engines.find('\n')),
                                .took = std::chrono::duration_cast<std::chrono::milliseconds>(
                                    std::chrono::steady_clock::now() - began_),
                                .in_background = true};
        print_item(options_.form, status_of(state, true),
                   [&](const auto&) { return banner(facts); });
        return ExitCode::ok;
    }

    ExitCode tell_end() const {
        int status = 0;
        waitpid(server_.pid(), &status, 0);
        show_last_words();
        const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
        return code == 0 ? ExitCode::failed : static_cast<ExitCode>(code);
    }

    ExitCode give_up(ExitCode code) const {
        server_.send(SIGTERM);
        if (!server_.wait(end_limit)) server_.send(SIGKILL);
        show_last_words();
        return code;
    }

    void show_last_words() const {
        std::fputs(last_words(log_).c_str(), stderr);
        complain(fmt::format("it did not start; {} has all it said", log_.path.string()));
    }

    const DevOptions& options_;
    const Log& log_;
    LiveProcess server_;
    StopEvent stop_;
    std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace

LogFile log_of(const fs::path& data) {
    return LogFile(data / "log" / "tenon.log");
}

std::optional<ExitCode> detach(const DevOptions& options) {
    const auto log = open_log(options.data);
    const pid_t pid = fork();
    if (pid < 0) throw std::system_error(errno, std::generic_category(), "fork");
    if (pid == 0) {
        become_server(log);
        return std::nullopt;
    }
    close(log.descriptor);
    auto server = LiveProcess::find(pid);  // not reaped yet, so it is there
    return Watcher(options, log, std::move(*server)).watch();
}

}  // namespace tenon::app
