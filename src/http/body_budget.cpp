#include "http/body_budget.hpp"

namespace tenon::http {

bool BodyBudget::take(std::size_t bytes) {
    std::size_t held = held_.load(std::memory_order_relaxed);
    do {
        if (bytes > bytes_max_ - held) return false;
    } while (!held_.compare_exchange_weak(held, held + bytes, std::memory_order_relaxed));
    return true;
}

bool BodyBudget::has_room_for(std::size_t bytes) const {
    return bytes <= bytes_max_ - held();
}

}  // namespace tenon::http
