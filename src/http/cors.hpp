// Which pages of other origins may call from a browser.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "http/message.hpp"

namespace tenon::http {

/// Says why an entry of ServerOptions::cors_origins is refused; nullopt when it is accepted.
///
/// Shape:  "*", or an origin exactly as a browser sends it: scheme, host and a port that is not the
///         scheme's own, small letters, no path.
/// Errors: http.invalid_origin.
[[nodiscard]] std::optional<base::Error> check_origin(std::string_view origin);

/// Cross-origin calls of the API. Credentials are bearer tokens, which a page sends by itself, so
/// cookies are never allowed; and `*` is as safe as the key that a page has to know.
///
/// Threads: any.
/// Source:  WHATWG Fetch, section 3.3, CORS protocol.
class CorsPolicy {
public:
    /// Expects: every origin passed check_origin. None: no page of another origin may call.
    explicit CorsPolicy(std::vector<std::string> origins);

    [[nodiscard]] bool is_off() const { return origins_.empty(); }
    [[nodiscard]] bool allows(std::string_view origin) const;

    /// True when a browser asks in advance whether a page may send a request.
    [[nodiscard]] static bool is_preflight(const Request& request);
    /// Lets the page send what the path offers, `methods` as in Allow; or says why it may not.
    ///
    /// Errors: http.origin_refused.
    [[nodiscard]] std::optional<base::Error> answer_preflight(const Request& request,
                                                              std::string_view methods,
                                                              Response& response) const;
    /// Lets the page read the response. False when the request is of a page that may not; the
    /// response is then hidden from the page by its browser.
    bool open(const Request& request, Response& response) const;

private:
    [[nodiscard]] base::Error refusal(std::string_view origin) const;
    void name_origin(std::string_view origin, Response& response) const;

    std::vector<std::string> origins_;
    bool any_ = false;
};

}  // namespace tenon::http
