// Chunked bodies, decoded where they lie.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "http/head.hpp"

namespace tenon::http {

/// Removes the chunked coding in place: decoded bytes move to the front, what was not yet
/// understood follows them.
///
/// Shape:  sizes of 1 to 8 hexadecimal digits; extensions and trailers are skipped. Every line of
///         the coding, and all trailers together, are at most line_bytes_max. Bytes are judged in
///         their order, so slices give the same result as the whole.
/// Errors: malformed, body_too_large.
/// Cost:   O(new bytes); one move of each decoded byte.
/// Source: RFC 9112 section 7.1.
class ChunkDecoder {
public:
    static constexpr std::size_t line_bytes_max = 4096;

    /// What lies in the body's memory: decoded bytes, then encoded ones.
    struct Progress {
        std::size_t decoded = 0;        ///< bytes at the front that are body
        std::size_t encoded_begin = 0;  ///< where the bytes not yet understood begin
        bool complete = false;          ///< encoded_begin is then behind the message
        std::optional<Refusal> refusal;
    };

    /// Goes on with `bytes`, `size` of them, of which the first `decoded` are those that an earlier
    /// call decoded and the rest directly follows.
    [[nodiscard]] Progress decode(char* bytes, std::size_t size, std::size_t body_bytes_max);
    void reset() { *this = ChunkDecoder{}; }
    [[nodiscard]] std::size_t decoded() const { return decoded_; }

private:
    enum class Phase : std::uint8_t { size, data, data_end, trailer, complete };
    enum class Step : std::uint8_t { again, need_more, refused };

    Step read_line(const char* bytes, std::size_t size);
    Step take_size(const char* line, std::size_t length, std::size_t body_bytes_max);
    Step take_data(char* bytes, std::size_t size);
    Step refuse(Refusal refusal);

    Phase phase_ = Phase::size;
    std::size_t decoded_ = 0;
    std::size_t at_ = 0;          // where the encoded bytes begin, during decode
    std::size_t line_bytes_ = 0;  // of the line at at_, with its end; 0: not there yet
    std::size_t trailer_bytes_ = 0;
    std::size_t left_ = 0;  // of the present chunk
    Refusal refusal_;
};

}  // namespace tenon::http
