// The variables that this process was started with.
#pragma once

#include <string_view>

namespace tenon::runtime {

/// The value of a variable; empty when it is not set.
///
/// Expects: nobody changes the environment while this program runs, so that any thread may read it.
[[nodiscard]] std::string_view environment_value(std::string_view name);

}  // namespace tenon::runtime
