#include "base/clock.hpp"

namespace tenon::base {

Time SystemClock::now() const {
    const auto machine = std::chrono::system_clock::now();
    return std::chrono::floor<std::chrono::microseconds>(machine) +
           std::chrono::microseconds(offset_.load());
}

}  // namespace tenon::base
