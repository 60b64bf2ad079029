// The main thread waits here for the signal to end, and for whatever else it watches.
#pragma once

#include <chrono>
#include <optional>
#include <span>

#include "runtime/shutdown.hpp"

namespace tenon::app {

/// Becomes readable with the first SIGINT or SIGTERM.
///
/// Threads: wait() on the main thread; the signal arrives on its own.
class StopEvent {
public:
    StopEvent();
    ~StopEvent();
    StopEvent(const StopEvent&) = delete;
    StopEvent& operator=(const StopEvent&) = delete;

    /// Returns when asked to stop.
    void wait() const;
    /// Returns true when asked to stop, false when one of the descriptors became readable or the
    /// limit passed.
    [[nodiscard]] bool wait_or(std::span<const int> descriptors,
                               std::chrono::milliseconds limit) const;

private:
    int descriptor_;
    std::optional<runtime::StopSignals> signals_;
};

}  // namespace tenon::app
