#include "http/cors.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "http/errors.hpp"
#include "http/text.hpp"

namespace tenon::http {

namespace {

// What a page may send. Its browser adds what is harmless by itself.
constexpr std::string_view request_headers =
    "Authorization, Content-Type, Idempotency-Key, Tenon-Position, Tenon-Request-Id, "
    "Tenon-Timeout, traceparent, tracestate";
// What a page may read beyond what Fetch lets it read of every response.
constexpr std::string_view response_headers =
    "Idempotency-Replayed, Location, RateLimit, RateLimit-Policy, Retry-After, Tenon-Position, "
    "Tenon-Request-Id, WWW-Authenticate, traceparent, tracestate";
// Two hours; no browser keeps a preflight longer than a day, Chromium not longer than this.
constexpr std::string_view max_age = "7200";
// Of an origin, in a sentence.
constexpr std::size_t shown_max = 200;

// Where the scheme's own port is written, browsers leave it out.
std::string_view default_port(std::string_view scheme) {
    if (scheme == "http") return ":80";
    if (scheme == "https") return ":443";
    return {};
}

bool is_host(std::string_view host) {
    const bool v6 = host.starts_with('[') && host.ends_with(']');
    const std::string_view allowed =
        v6 ? "[]:0123456789abcdef" : "-._0123456789abcdefghijklmnopqrstuvwxyz";
    return !host.empty() && host.find_first_not_of(allowed) == std::string_view::npos;
}

std::optional<base::Error> refuse(std::string detail) {
    return base::Error(errors::invalid_origin, std::move(detail));
}

}  // namespace

std::optional<base::Error> check_origin(std::string_view origin) {
    if (origin == "*") return std::nullopt;
    const auto colon = origin.find("://");
    const std::string_view scheme = origin.substr(0, colon);
    if (colon == std::string_view::npos || scheme.empty() ||
        scheme.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789+-.") !=
            std::string_view::npos) {
        return refuse(
            fmt::format("{} is no origin: write one like https://app.example.com", origin));
    }
    const std::string_view authority = origin.substr(colon + 3);
    const auto port = authority.rfind(':');
    const bool has_port = port != std::string_view::npos && !authority.ends_with(']');
    const std::string_view host = has_port ? authority.substr(0, port) : authority;
    if (!is_host(host) || (has_port && !is_port(authority.substr(port + 1)))) {
        return refuse(
            fmt::format("{} is no origin as browsers send it: scheme, host and maybe a "
                        "port, in small letters, without path or slash at the end",
                        origin));
    }
    if (has_port && authority.substr(port) == default_port(scheme)) {
        return refuse(fmt::format("{} is no origin as browsers send it: leave out the port {}",
                                  origin, authority.substr(port + 1)));
    }
    return std::nullopt;
}

CorsPolicy::CorsPolicy(std::vector<std::string> origins)
    : origins_(std::move(origins)), any_(std::ranges::find(origins_, "*") != origins_.end()) {}

bool CorsPolicy::allows(std::string_view origin) const {
    return any_ || std::ranges::find(origins_, origin) != origins_.end();
}

bool CorsPolicy::is_preflight(const Request& request) {
    return request.method == Method::options && request.header("Origin") &&
           request.header("Access-Control-Request-Method");
}

base::Error CorsPolicy::refusal(std::string_view origin) const {
    const std::string_view shown = origin.substr(0, shown_max);
    if (is_off()) {
        return {errors::origin_refused,
                fmt::format("This server lets no page of another origin call; to let {} call, "
                            "list it in http.cors_origins.",
                            shown)};
    }
    return {errors::origin_refused,
            fmt::format("The origin {} is not listed in http.cors_origins; add it there.", shown)};
}

void CorsPolicy::name_origin(std::string_view origin, Response& response) const {
    response.add_header("Access-Control-Allow-Origin", any_ ? std::string_view("*") : origin);
}

std::optional<base::Error> CorsPolicy::answer_preflight(const Request& request,
                                                        std::string_view methods,
                                                        Response& response) const {
    const std::string_view origin = request.header("Origin").value_or("");
    if (!is_off() && !any_) response.add_header("Vary", "Origin");
    if (!allows(origin)) return refusal(origin);
    response.set_status(204);
    name_origin(origin, response);
    response.add_header("Access-Control-Allow-Methods", methods);
    response.add_header("Access-Control-Allow-Headers", request_headers);
    response.add_header("Access-Control-Max-Age", max_age);
    return std::nullopt;
}

bool CorsPolicy::open(const Request& request, Response& response) const {
    if (is_off()) return true;
    // Also without an Origin: a cache must not give a page what was answered to somebody else.
    if (!any_) response.add_header("Vary", "Origin");
    const auto origin = request.header("Origin");
    if (!origin) return true;
    if (!allows(*origin)) return false;
    name_origin(*origin, response);
    response.add_header("Access-Control-Expose-Headers", response_headers);
    return true;
}

}  // namespace tenon::http
