// A request as it was received and a response as it will be sent.
#pragma once

#include <cstdint>
#include <memory>
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

/// A body that many responses carry; make_constant_body makes one.
struct ConstantBody {
    std::string text;
    std::string gzipped;  ///< empty: there is none
};

/// One response; its memory is reused for the connection's next.
class Response {
public:
    void set_status(int status) { status_ = status; }
    /// Expects: no CR, LF or NUL in either; Content-Length, Connection and Date are the server's.
    void add_header(std::string_view name, std::string_view value);
    /// The body is compressed on its way where that pays.
    void set_body(std::string_view content_type, std::string_view body);
    /// The same without a copy, and compressed once for all.
    void set_constant_body(std::string_view content_type, std::shared_ptr<const ConstantBody> body);
    [[nodiscard]] int status() const { return status_; }
    [[nodiscard]] std::string_view headers() const { return headers_; }
    [[nodiscard]] std::string_view body() const;
    /// A text of 1 KiB or more.
    [[nodiscard]] bool is_compressible() const { return compressible_; }
    /// nullptr: the body is this response's alone.
    [[nodiscard]] const ConstantBody* constant_body() const { return constant_.get(); }
    /// Sends the constant body's gzip, with its Content-Encoding.
    void send_gzipped();
    /// The same for a body of its own.
    void send_gzipped(std::string gzipped);
    void clear();

private:
    void note_content(std::string_view content_type);

    int status_ = 200;
    bool compressible_ = false;
    bool gzipped_ = false;
    std::string headers_;  ///< "Name: value\r\n" each
    std::string body_;
    std::shared_ptr<const ConstantBody> constant_;
};

}  // namespace tenon::http
