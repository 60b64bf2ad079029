// One request to a server of this product, from a command.
#pragma once

#include <string>

namespace tenon::app {

/// What a server answered; status 0 when it did not.
struct Answer {
    long status = 0;
    std::string body = {};
    std::string why_none = {};  ///< empty when it answered
};

/// GET URL, with the key as Bearer token when there is one, within two seconds; never by a proxy.
///
/// Shape: a body beyond 1 MiB is a failure; without a key, no certificate is checked. Threads: any
/// but a core's, for it blocks.
[[nodiscard]] Answer ask(const std::string& url, const std::string& key = "");

/// True when GET URL/readyz answers 200.
[[nodiscard]] bool is_ready(const std::string& url);
/// False when the server refuses the key as such (401).
[[nodiscard]] bool accepts_key(const std::string& url, const std::string& key);

}  // namespace tenon::app
