#include "app/live_process.hpp"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace tenon::app {

std::optional<LiveProcess> LiveProcess::find(pid_t pid) {
    const auto descriptor = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
    if (descriptor < 0) return std::nullopt;
    return LiveProcess(pid, descriptor);
}

LiveProcess::LiveProcess(LiveProcess&& other) noexcept
    : pid_(other.pid_), descriptor_(std::exchange(other.descriptor_, -1)) {}

LiveProcess::~LiveProcess() {
    if (descriptor_ >= 0) close(descriptor_);
}

bool LiveProcess::send(int signal) const {
    return syscall(SYS_pidfd_send_signal, descriptor_, signal, nullptr, 0) == 0;
}

bool LiveProcess::wait(std::chrono::milliseconds limit) const {
    const auto until = std::chrono::steady_clock::now() + limit;
    while (true) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
            until - std::chrono::steady_clock::now());
        pollfd watched{.fd = descriptor_, .events = POLLIN, .revents = 0};
        const int ready = poll(&watched, 1, static_cast<int>(std::max<long>(left.count(), 0)));
        if (ready > 0) return true;
        if (ready == 0 || errno != EINTR) return false;
    }
}

}  // namespace tenon::app
