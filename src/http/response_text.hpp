// Responses as bytes.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "http/message.hpp"

namespace tenon::http {

/// "302 Found"; codes without a name of their own get "Unknown".
[[nodiscard]] std::string_view reason_of(int status);

/// How a response leaves, apart from what it says.
struct Delivery {
    bool head_only = false;  ///< the request was HEAD: the length is told, the body stays here
    bool keep_alive = true;  ///< false: Connection: close
    bool http_1_0 = false;   ///< keeping alive must then be said
};

/// Appends a complete response. `date` is a whole header line, from DateLine.
///
/// Cost: no allocation when `out` has the room.
void append_response(std::string& out, const Response& response, const Delivery& delivery,
                     std::string_view date);

/// The Date header, written anew once a second.
///
/// Threads: one core's.
class DateLine {
public:
    /// "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n", valid until the next call.
    [[nodiscard]] std::string_view at(base::Time now) {
        const auto second = std::chrono::floor<std::chrono::seconds>(now);
        if (second != second_ || line_.empty()) write(second);
        return line_;
    }

private:
    void write(std::chrono::sys_seconds second);

    std::chrono::sys_seconds second_;
    std::string line_;
};

}  // namespace tenon::http
