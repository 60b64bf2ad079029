// The head of a request, read from one contiguous piece of memory; no I/O, no allocation once warm.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/error.hpp"
#include "http/message.hpp"

namespace tenon::http {

/// Why a request is not answered but refused; the connection closes after it.
///
/// Owns: nothing; both live in static storage.
struct Refusal {
    const base::ErrorType* type = nullptr;
    std::string_view detail;               ///< what to do next
    std::chrono::seconds repeat_after{0};  ///< 0: repeating it as it is does not help
    std::size_t limit = 0;                 ///< the detail goes on with it; 0: there is none
    std::string_view unit{};               ///< of the limit
};

/// What one connection accepts.
struct Limits {
    std::size_t header_bytes_max = 16 * 1024;  ///< request line, headers and the empty line
    std::size_t headers_max = 100;
    std::size_t target_bytes_max = 8 * 1024;
    std::size_t body_bytes_max = 1024 * 1024;
};

/// A request and what its head says about the connection.
///
/// Owns: the list of headers only; everything else views the bytes it was read from.
struct Head {
    Request request;
    std::uint64_t content_length = 0;
    bool http_1_0 = false;
    bool keep_alive = true;
    bool chunked = false;
    bool expect_continue = false;

    /// Forgets everything but the memory of the headers' list.
    void clear();
    /// Lets every view into `from` look at the same bytes at their new place.
    void rebase(std::string_view from, const char* to);
};

/// Looks for the empty line that ends a head, and remembers where it has looked.
///
/// Shape:  bytes are judged in their order, so slices of a request give the same result as the
///         whole; a line feed without its carriage return is refused where it stands.
/// Errors: malformed, header_too_large, target_too_long.
/// Cost:   O(bytes not yet seen), one memchr per line.
class HeadScanner {
public:
    struct Result {
        std::size_t head_bytes = 0;  ///< 0: the end is not there yet
        std::optional<Refusal> refusal;
    };
    [[nodiscard]] Result scan(std::string_view bytes, const Limits& limits);
    void reset() { seen_ = line_begin_ = 0; }

private:
    std::size_t seen_ = 0;
    std::size_t line_begin_ = 0;
};

/// Reads a complete head into `head`, or says why it is refused.
///
/// Shape:   HTTP/1.0 and 1.1; origin form, absolute form, and "*" for OPTIONS. Refused besides what
///          the grammar refuses: obsolete folding, a Content-Length that is repeated or stands
///          beside Transfer-Encoding, another coding than chunked, a missing, repeated or malformed
///          Host, bytes outside ASCII in the target.
/// Expects: `bytes` ends with the empty line. head.request.remote_address is left alone.
/// Cost:    O(bytes); no allocation when the list of headers has the room.
/// Source:  RFC 9112 sections 2 to 6, RFC 9110 section 7.2.
[[nodiscard]] std::optional<Refusal> read_head(std::string_view bytes, const Limits& limits,
                                               Head& head);

}  // namespace tenon::http
