// Which of two servers that both call themselves primary is the present one.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace tenon::postgres {

/// The newest timeline of one server, as met by any connection of this process. A promotion begins
/// a timeline with a higher number, and the primary that it replaced stays on its own.
///
/// Threads: all.
class Timeline {
public:
    /// False when `met` is older than one met before. Notes it otherwise.
    [[nodiscard]] bool admit(std::int32_t met) {
        std::int32_t newest = newest_.load();
        while (newest < met && !newest_.compare_exchange_weak(newest, met)) {
        }
        return met >= newest;
    }
    /// 0 before the first connection.
    [[nodiscard]] std::int32_t newest() const { return newest_.load(); }

private:
    std::atomic<std::int32_t> newest_{0};
};

/// The timelines of all servers that a process knows, by conninfo.
///
/// Threads: all.
class Timelines {
public:
    /// The one of the server that `conninfo` names; the same for the same text.
    [[nodiscard]] std::shared_ptr<Timeline> of(const std::string& conninfo) {
        const std::lock_guard lock(guard_);
        std::shared_ptr<Timeline>& found = by_conninfo_[conninfo];
        if (!found) found = std::make_shared<Timeline>();
        return found;
    }

private:
    std::mutex guard_;
    std::map<std::string, std::shared_ptr<Timeline>> by_conninfo_;
};

}  // namespace tenon::postgres
