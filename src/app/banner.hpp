// What `tenon dev` says once requests are served.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "app/run_state.hpp"

namespace tenon::app {

/// What the banner tells.
struct BannerFacts {
    RunState state;
    std::filesystem::path engines;  ///< where the engines' data lies
    std::chrono::milliseconds took{0};
    bool in_background = false;
};

/// At most 12 lines: where, how long it took, what is kept, how to stop and wipe, what to try.
/// Pure.
[[nodiscard]] std::string banner(const BannerFacts& facts);

}  // namespace tenon::app
