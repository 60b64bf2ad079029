// A request as it was received and a response as it will be sent.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::http {

/// A request's method; `other` is none that an endpoint can have.
enum class Method : std::uint8_t { get, head, post, put, patch, del, options, other };

/// One header line of a request.
///
/// Owns: nothing; views into the connection's buffer.
struct Header {
    std::string_view name;   ///< as received
    std::string_view value;  ///< without surrounding white space
};

/// One request.
///
/// Owns: nothing; views into the connection's buffer, valid until its response is complete.
class Request {
public:
    Method method = Method::other;
    std::string_view target;  ///< as received, origin form
    std::string_view path;    ///< before '?', still percent-encoded
    std::string_view query;   ///< after '?', without it, byte-exact
    std::string_view body;
    std::string_view remote_address;  ///< the client's, textual, without port
    bool secure = false;              ///< the client came by https
    bool from_proxy = false;          ///< it was a trusted proxy that sent this
    std::vector<Header> headers;

    /// The first header of that name, compared without case; nullopt when there is none.
    [[nodiscard]] std::optional<std::string_view> header(std::string_view name) const;
};

/// One response; its memory is reused for the connection's next.
class Response {
public:
    void set_status(int status) { status_ = status; }
    /// Expects: no CR, LF or NUL in either; Content-Length, Connection and Date are the server's.
    void add_header(std::string_view name, std::string_view value);
    void set_body(std::string_view content_type, std::string_view body);
    [[nodiscard]] int status() const { return status_; }
    [[nodiscard]] std::string_view headers() const { return headers_; }
    [[nodiscard]] std::string_view body() const { return body_; }
    void clear();

private:
    int status_ = 200;
    std::string headers_;  ///< "Name: value\r\n" each
    std::string body_;
};

}  // namespace tenon::http
