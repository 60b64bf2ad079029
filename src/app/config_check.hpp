// What only the rooms that use a value can say about it.
#pragma once

#include <optional>

#include "app/config.hpp"
#include "base/error.hpp"
#include "runtime/config.hpp"

namespace tenon::app {

/// Checks what an option's type cannot tell: networks, origins, what goes together.
///
/// Errors: config.invalid, with the place of every value that is refused, as load_config has it.
[[nodiscard]] std::optional<base::Error> check_config(const runtime::LoadedConfig<Config>& loaded);

}  // namespace tenon::app
