// Programs that `tenon dev` runs for itself, and what an earlier run may have left of them.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tenon::app {

/// Under whose rights a program runs.
struct Account {
    std::string name;
    uid_t user = 0;
    gid_t group = 0;
};

/// The account for PostgreSQL and Redis when this process is root: `postgres` where it exists, else
/// `nobody`; nullopt when this process is not root and they run as the caller.
[[nodiscard]] std::optional<Account> engine_account();

/// How a program is started.
struct ProgramSpec {
    std::vector<std::string> arguments;  ///< the program's absolute path first
    std::filesystem::path folder;        ///< its working folder, by which it is found again
    std::filesystem::path log;           ///< standard output and error are appended here
    std::optional<Account> account;
    int death_signal = 9;  ///< what it gets when the thread that started it ends
};

/// A child process.
///
/// Owns:    its pidfd, and the duty to reap it. Destruction while it runs kills it.
/// Expects: start() on the main thread, whose end (that is, of this process, by whatever means)
///          sends the death signal.
class Program {
public:
    /// Throws std::system_error when it cannot be started, exec's reason included.
    static Program start(const ProgramSpec& spec);
    Program(Program&& other) noexcept;
    Program& operator=(Program&& other) noexcept;
    ~Program();

    [[nodiscard]] pid_t pid() const { return pid_; }
    /// Readable once the program has ended.
    [[nodiscard]] int descriptor() const { return descriptor_; }
    void send(int signal) const;
    /// True when it has ended within `limit`; it is reaped then.
    bool wait(std::chrono::milliseconds limit);
    /// The exit status as a person reads it; "running" before its end.
    [[nodiscard]] const std::string& how_it_ended() const { return how_it_ended_; }

private:
    Program(pid_t pid, int descriptor) : pid_(pid), descriptor_(descriptor) {}
    void release();
    pid_t pid_ = -1;
    int descriptor_ = -1;
    bool ended_ = false;
    std::string how_it_ended_ = "running";
};

/// Runs a program to its end and returns its exit status; -1 for a signal or when `limit` passed
/// (it is killed then).
int run_program(const ProgramSpec& spec, std::chrono::milliseconds limit);

/// All live processes whose working folder is `folder`: a server with its orphaned children.
[[nodiscard]] std::vector<pid_t> processes_in(const std::filesystem::path& folder);

/// True when no process works in `folder`, now or within `limit`.
[[nodiscard]] bool wait_for_none_in(const std::filesystem::path& folder,
                                    std::chrono::milliseconds limit);

/// Ends what works in `folder` that is not this process's child: `polite` first, SIGKILL for what
/// remains after `limit`. Returns how many there were.
std::size_t end_processes_in(const std::filesystem::path& folder, int polite,
                             std::chrono::milliseconds limit);

/// The first existing path of `name` in the given folders, then in PATH; empty when there is none.
[[nodiscard]] std::filesystem::path find_program(const std::string& name,
                                                 const std::vector<std::filesystem::path>& folders);

/// The last `count` lines of a log, for error messages.
[[nodiscard]] std::string last_lines(const std::filesystem::path& log, std::size_t count);

}  // namespace tenon::app
