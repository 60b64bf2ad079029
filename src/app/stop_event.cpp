#include "app/stop_event.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>
#include <vector>

namespace tenon::app {

namespace {

int make_event() {
    const int descriptor = eventfd(0, EFD_CLOEXEC);
    if (descriptor < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
    return descriptor;
}

}  // namespace

StopEvent::StopEvent() : descriptor_(make_event()) {
    signals_.emplace([this](int) {
        const std::uint64_t one = 1;
        [[maybe_unused]] const auto written = write(descriptor_, &one, sizeof one);
    });
}

StopEvent::~StopEvent() {
    signals_.reset();  // its thread writes to the descriptor
    close(descriptor_);
}

void StopEvent::wait() const {
    while (!wait_or({}, std::chrono::hours(1))) {
    }
}

bool StopEvent::wait_or(std::span<const int> descriptors, std::chrono::milliseconds limit) const {
    std::vector<pollfd> watched{{.fd = descriptor_, .events = POLLIN, .revents = 0}};
    for (const int descriptor : descriptors) {
        watched.push_back({.fd = descriptor, .events = POLLIN, .revents = 0});
    }
    poll(watched.data(), watched.size(), static_cast<int>(limit.count()));
    return (watched.front().revents & POLLIN) != 0;
}

}  // namespace tenon::app
