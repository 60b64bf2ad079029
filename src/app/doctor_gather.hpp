// Asks a deployment what `tenon doctor` judges.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/config.hpp"
#include "app/doctor.hpp"
#include "app/run_state.hpp"

namespace tenon::app {

/// Where to look.
struct DoctorTarget {
    Config config;
    std::optional<RunState> running;  ///< a `tenon dev`
};

/// Gathers all facts; changes nothing. What does not answer within seconds is a fact, too.
///
/// Threads: the main thread, which it blocks.
[[nodiscard]] DoctorFacts gather(const DoctorTarget& target);

/// The value of a line of INFO; empty when it has none. Pure.
[[nodiscard]] std::string find_info(std::string_view info, std::string_view name);

}  // namespace tenon::app
