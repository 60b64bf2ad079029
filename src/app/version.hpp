// Which release this is.
#pragma once

namespace tenon::app {

inline constexpr const char* version = "0.1.0";

}  // namespace tenon::app
