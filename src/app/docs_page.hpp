// The API page: the OpenAPI document, rendered without anything from outside.
#pragma once

#include <string_view>

namespace tenon::app {

/// A self-contained HTML page that reads /openapi.json and shows it.
[[nodiscard]] std::string_view docs_page();

}  // namespace tenon::app
