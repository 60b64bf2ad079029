// Bodies made smaller where that pays.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "http/message.hpp"

namespace tenon::http {

/// Makes gzip of bodies, one after the other, in memory that it keeps.
///
/// Threads: one core's.
/// Cost:    a quarter of a MiB once something was compressed; about 10 ms per MiB of JSON.
/// Source:  RFC 1952.
class Compressor {
public:
    /// `level` is zlib's: 1 is fast, 9 is small.
    explicit Compressor(int level = 4);
    ~Compressor();
    Compressor(const Compressor&) = delete;
    Compressor& operator=(const Compressor&) = delete;

    /// Replaces `out` by the gzip of `text`; false when there is no memory for it.
    [[nodiscard]] bool compress(std::string_view text, std::string& out);

private:
    struct Stream;
    int level_;
    std::unique_ptr<Stream> stream_;
};

/// A body with its gzip, for Response::set_constant_body.
[[nodiscard]] std::shared_ptr<const ConstantBody> make_constant_body(std::string text);

/// True when the client takes gzip, and rather than a body as it is.
///
/// Shape:  weights count, also 0; gzip, x-gzip and * name it; what cannot be read names nothing.
/// Source: RFC 9110, section 12.5.3.
[[nodiscard]] bool accepts_gzip(const Request& request);

/// Compresses the body if the client takes it so, and says that the answer depends on that.
///
/// Expects: response.is_compressible().
void compress_body(const Request& request, Response& response, Compressor& compressor);

}  // namespace tenon::http
