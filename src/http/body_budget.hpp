// How much memory the bodies of requests may take, over all connections of a process.
#pragma once

#include <atomic>
#include <cstddef>

namespace tenon::http {

/// What all connections together may hold for bodies that outgrow a connection's first buffer.
///
/// Bytes count when memory is taken for them, so that whoever announces a large body and sends
/// nothing keeps nobody else from sending one.
///
/// Threads: any.
/// Cost:    one atomic addition; no allocation.
class BodyBudget {
public:
    explicit BodyBudget(std::size_t bytes_max) : bytes_max_(bytes_max) {}
    BodyBudget(const BodyBudget&) = delete;
    BodyBudget& operator=(const BodyBudget&) = delete;

    /// Takes that many bytes if they are there.
    [[nodiscard]] bool take(std::size_t bytes);
    void give_back(std::size_t bytes) { held_.fetch_sub(bytes, std::memory_order_relaxed); }
    /// True when so many could be taken just now; keeps none of them.
    [[nodiscard]] bool has_room_for(std::size_t bytes) const;
    [[nodiscard]] std::size_t held() const { return held_.load(std::memory_order_relaxed); }

private:
    std::size_t bytes_max_;
    std::atomic<std::size_t> held_{0};
};

}  // namespace tenon::http
