// A process that this one did not start.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>

namespace tenon::app {

/// A handle to a process by which it is told from a later one with its number.
///
/// Owns: a pidfd.
class LiveProcess {
public:
    /// nullopt when no process has that number.
    static std::optional<LiveProcess> find(pid_t pid);
    LiveProcess(LiveProcess&& other) noexcept;
    LiveProcess& operator=(LiveProcess&&) = delete;
    ~LiveProcess();

    [[nodiscard]] pid_t pid() const { return pid_; }
    /// Readable once it has ended.
    [[nodiscard]] int descriptor() const { return descriptor_; }
    /// False when it has ended or may not be signalled.
    bool send(int signal) const;
    /// True when it has ended within `limit`.
    [[nodiscard]] bool wait(std::chrono::milliseconds limit) const;

private:
    LiveProcess(pid_t pid, int descriptor) : pid_(pid), descriptor_(descriptor) {}
    pid_t pid_;
    int descriptor_;
};

}  // namespace tenon::app
