// A request of our own: one POST to a peer that the operator named.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "runtime/call.hpp"

namespace tenon::http {

/// Where to post.
struct PostTarget {
    bool secure = false;    ///< https
    std::string host;       ///< a name or an address, without brackets
    std::string port;       ///< as digits
    std::string path;       ///< with its query; "/..."
    std::string authority;  ///< for the Host header
    bool operator==(const PostTarget&) const = default;
};

/// Reads "http://HOST[:PORT]/PATH" or the same with https.
///
/// Shape:  a URL without a path gets `default_path`. Credentials and fragments are refused.
/// Errors: http.invalid_target, whose detail says what was expected.
[[nodiscard]] base::Result<PostTarget> read_post_target(std::string_view url,
                                                        std::string_view default_path);

/// What came back.
struct PostAnswer {
    int status = 0;
    std::string retry_after;  ///< as it stands in the header; empty: none
    std::string body;         ///< its beginning
};

/// Posts to one target, each time on a connection of its own.
///
/// Shape:   over TLS the peer's certificate must be of its name and vouched for by the machine's
///          authorities, or those in SSL_CERT_FILE. No redirect is followed; an answer over 64 KiB
///          is a failure.
/// Threads: any; each call on its own core.
/// Cost:    a look-up, a connection and a round trip each.
/// Cancel:  closes the connection; a look-up is waited for.
/// Errors:  Unavailable, which says what went wrong; DeadlineExceeded by the call's deadline.
class Poster {
public:
    /// Errors: throws Unavailable when TLS cannot be prepared.
    explicit Poster(PostTarget target);
    ~Poster();

    boost::asio::awaitable<PostAnswer> post(runtime::Call& call, std::string_view content_type,
                                            const std::string& body);

private:
    struct Tls;
    boost::asio::awaitable<PostAnswer> exchange(std::string_view content_type,
                                                const std::string& body);

    const PostTarget target_;
    std::unique_ptr<Tls> tls_;  ///< nullptr for plain HTTP
};

}  // namespace tenon::http
