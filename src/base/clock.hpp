// Business time: what users set or see. Machine time belongs to the database (see docs/adr).
#pragma once

#include <atomic>
#include <chrono>

namespace tenon::base {

/// Microseconds since the Unix epoch, as PostgreSQL's timestamptz resolves them.
using Time = std::chrono::sys_time<std::chrono::microseconds>;

/// Tells the time; comes in from outside, so that a test or `tenon dev` can move it.
class Clock {
public:
    virtual ~Clock() = default;
    [[nodiscard]] virtual Time now() const = 0;
};

/// The machine's wall clock plus an offset that may be moved while running.
///
/// Threads: all.
class SystemClock final : public Clock {
public:
    [[nodiscard]] Time now() const override;
    /// Moves this clock by `offset` against the machine's; replaces an earlier offset.
    void set_offset(std::chrono::microseconds offset) { offset_.store(offset.count()); }

private:
    std::atomic<std::chrono::microseconds::rep> offset_{0};
};

/// A clock that stands still until it is moved; for tests and replays.
class ManualClock final : public Clock {
public:
    explicit ManualClock(Time start) : now_(start.time_since_epoch().count()) {}
    [[nodiscard]] Time now() const override { return Time(std::chrono::microseconds(now_.load())); }
    void advance(std::chrono::microseconds by) { now_.fetch_add(by.count()); }
    void set(Time to) { now_.store(to.time_since_epoch().count()); }

private:
    std::atomic<std::chrono::microseconds::rep> now_;
};

}  // namespace tenon::base
