#include "app/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <deque>
#include <fstream>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "runtime/environment.hpp"

namespace tenon::app {

namespace fs = std::filesystem;

namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void throw_errno(const std::string& what) {
    throw std::system_error(errno, std::generic_category(), what);
}

int open_pidfd(pid_t pid) {
    return static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
}

int milliseconds_left(Clock::time_point until) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    return static_cast<int>(std::clamp<long>(left, 0, 60'000));
}

/// Waits until a pidfd is readable; interrupted waits go on.
bool wait_for_end(int descriptor, std::chrono::milliseconds limit) {
    const auto until = Clock::now() + limit;
    while (true) {
        pollfd watched{.fd = descriptor, .events = POLLIN, .revents = 0};
        const int ready = poll(&watched, 1, milliseconds_left(until));
        if (ready > 0) return true;
        if (ready == 0 || errno != EINTR) return false;
    }
}

/// What the child needs, made before fork: between fork and exec nothing may allocate.
struct Launch {
    std::vector<char*> arguments;
    const char* folder;
    int log = -1;
    int report = -1;
    const Account* account;
    int death_signal;
    pid_t parent;
};

[[noreturn]] void report_and_exit(int report) {
    const int reason = errno;
    [[maybe_unused]] const auto written = write(report, &reason, sizeof reason);
    _exit(127);
}

/// Becomes the program. Only async-signal-safe calls: other threads' locks may be held.
[[noreturn]] void become(const Launch& launch) {
    sigset_t none;
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, nullptr);
    setpgid(0, 0);  // Ctrl-C in the terminal is for tenon, which stops its engines in order
    if (launch.account != nullptr) {
        if (setgroups(0, nullptr) != 0 || setgid(launch.account->group) != 0 ||
            setuid(launch.account->user) != 0) {
            report_and_exit(launch.report);
        }
    }
    // After the change of user, which clears it; a parent that died meanwhile sends nothing.
    prctl(PR_SET_PDEATHSIG, launch.death_signal);
    if (getppid() != launch.parent) _exit(127);
    if (chdir(launch.folder) != 0) report_and_exit(launch.report);
    const int null = open("/dev/null", O_RDONLY);
    if (null < 0 || dup2(null, 0) < 0 || dup2(launch.log, 1) < 0 || dup2(launch.log, 2) < 0) {
        report_and_exit(launch.report);
    }
    execv(launch.arguments.front(), launch.arguments.data());
    report_and_exit(launch.report);
}

/// The reason why exec failed; 0 when the pipe closed because it succeeded.
int read_report(int report) {
    int reason = 0;
    while (true) {
        const auto got = read(report, &reason, sizeof reason);
        if (got == sizeof reason) return reason;
        if (got >= 0 || errno != EINTR) return 0;
    }
}

std::string describe_status(int status) {
    if (WIFEXITED(status)) return fmt::format("exit status {}", WEXITSTATUS(status));
    if (WIFSIGNALED(status)) return fmt::format("signal SIG{}", sigabbrev_np(WTERMSIG(status)));
    return "an unknown end";
}

std::optional<pid_t> to_pid(const std::string& name) {
    pid_t pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error != std::errc{} || end != name.data() + name.size()) return std::nullopt;
    return pid;
}

bool is_zombie(pid_t pid) {
    std::ifstream stat(fmt::format("/proc/{}/stat", pid));
    std::string text((std::istreambuf_iterator<char>(stat)), {});
    const auto name_end = text.rfind(')');
    return name_end != std::string::npos && text.size() > name_end + 2 && text[name_end + 2] == 'Z';
}

}  // namespace

std::optional<Account> engine_account() {
    if (geteuid() != 0) return std::nullopt;
    for (const char* name : {"postgres", "nobody"}) {
        passwd entry{};
        passwd* found = nullptr;
        std::array<char, 4'096> texts{};
        getpwnam_r(name, &entry, texts.data(), texts.size(), &found);
        if (found == nullptr) continue;
        return Account{.name = name, .user = entry.pw_uid, .group = entry.pw_gid};
    }
    // A machine without a passwd file still has a user who owns nothing.
    return Account{.name = "65534", .user = 65'534, .group = 65'534};
}

Program Program::start(const ProgramSpec& spec) {
    std::vector<std::string> arguments = spec.arguments;
    Launch launch{.arguments = {},
                  .folder = spec.folder.c_str(),
                  .account = spec.account ? &*spec.account : nullptr,
                  .death_signal = spec.death_signal,
                  .parent = getpid()};
    for (auto& argument : arguments) launch.arguments.push_back(argument.data());
    launch.arguments.push_back(nullptr);
    launch.log = open(spec.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (launch.log < 0) throw_errno(fmt::format("cannot write {}", spec.log.string()));
    int report[2];
    if (pipe2(report, O_CLOEXEC) != 0) {
        close(launch.log);
        throw_errno("pipe");
    }
    launch.report = report[1];
    const pid_t pid = fork();
    if (pid == 0) become(launch);
    close(launch.log);
    close(report[1]);
    if (pid < 0) {
        close(report[0]);
        throw_errno("fork");
    }
    const int reason = read_report(report[0]);
    close(report[0]);
    Program program(pid, open_pidfd(pid));
    if (reason != 0) {
        program.wait(std::chrono::seconds(1));
        throw std::system_error(reason, std::generic_category(),
                                fmt::format("cannot start {}", spec.arguments.front()));
    }
    return program;
}

Program::Program(Program&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      ended_(other.ended_),
      how_it_ended_(std::move(other.how_it_ended_)) {}

Program& Program::operator=(Program&& other) noexcept {
    if (this == &other) return *this;
    release();
    pid_ = std::exchange(other.pid_, -1);
    descriptor_ = std::exchange(other.descriptor_, -1);
    ended_ = other.ended_;
    how_it_ended_ = std::move(other.how_it_ended_);
    return *this;
}

Program::~Program() {
    release();
}

void Program::release() {
    if (pid_ > 0 && !ended_) {
        send(SIGKILL);
        wait(std::chrono::seconds(5));
    }
    if (descriptor_ >= 0) close(descriptor_);
    pid_ = -1;
    descriptor_ = -1;
}

void Program::send(int signal) const {
    if (pid_ > 0 && !ended_) kill(pid_, signal);
}

bool Program::wait(std::chrono::milliseconds limit) {
    if (ended_) return true;
    if (!wait_for_end(descriptor_, limit)) return false;
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    ended_ = true;
    how_it_ended_ = describe_status(status);
    return true;
}

int run_program(const ProgramSpec& spec, std::chrono::milliseconds limit) {
    auto program = Program::start(spec);
    if (!program.wait(limit)) {
        program.send(SIGKILL);
        program.wait(std::chrono::seconds(5));
        return -1;
    }
    int status = -1;
    const std::string_view ended = program.how_it_ended();
    constexpr std::string_view exited = "exit status ";
    if (ended.starts_with(exited)) {
        std::from_chars(ended.data() + exited.size(), ended.data() + ended.size(), status);
    }
    return status;
}

std::vector<pid_t> processes_in(const fs::path& folder) {
    std::vector<pid_t> found;
    std::error_code ignored;
    const auto wanted = fs::weakly_canonical(folder, ignored);
    for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
        const auto pid = to_pid(entry.path().filename());
        if (!pid || *pid == getpid()) continue;
        std::error_code unreadable;
        const auto where = fs::read_symlink(entry.path() / "cwd", unreadable);
        if (!unreadable && where == wanted && !is_zombie(*pid)) found.push_back(*pid);
    }
    return found;
}

bool wait_for_none_in(const fs::path& folder, std::chrono::milliseconds limit) {
    const auto until = Clock::now() + limit;
    for (auto left = processes_in(folder); !left.empty(); left = processes_in(folder)) {
        if (Clock::now() >= until) return false;
        const int descriptor = open_pidfd(left.front());
        if (descriptor < 0) continue;  // it ended between the two looks
        wait_for_end(descriptor, std::chrono::milliseconds(milliseconds_left(until)));
        close(descriptor);
    }
    return true;
}

std::size_t end_processes_in(const fs::path& folder, int polite, std::chrono::milliseconds limit) {
    const auto first = processes_in(folder);
    for (const auto pid : first) kill(pid, polite);
    if (wait_for_none_in(folder, limit)) return first.size();
    for (const auto pid : processes_in(folder)) kill(pid, SIGKILL);
    if (!wait_for_none_in(folder, std::chrono::seconds(5))) {
        throw std::runtime_error("cannot end what works in " + folder.string());
    }
    return first.size();
}

fs::path find_program(const std::string& name, const std::vector<fs::path>& folders) {
    auto places = folders;
    std::string_view rest = runtime::environment_value("PATH");
    while (!rest.empty()) {
        const auto colon = rest.find(':');
        places.emplace_back(rest.substr(0, colon));
        rest = colon == std::string_view::npos ? "" : rest.substr(colon + 1);
    }
    for (const auto& place : places) {
        if (access((place / name).c_str(), X_OK) == 0) return place / name;
    }
    return {};
}

std::string last_lines(const fs::path& log, std::size_t count) {
    std::ifstream file(log);
    std::deque<std::string> lines;
    for (std::string line; std::getline(file, line);) {
        lines.push_back(std::move(line));
        if (lines.size() > count) lines.pop_front();
    }
    return fmt::format("{}", fmt::join(lines, "\n"));
}

}  // namespace tenon::app
