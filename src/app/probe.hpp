// One request to a server of this product, from a command.
#pragma once

#include <string>

namespace tenon::app {

/// True when GET URL/readyz answers 200 within two seconds.
[[nodiscard]] bool is_ready(const std::string& url);

}  // namespace tenon::app
