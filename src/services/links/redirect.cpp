#include "services/links/redirect.hpp"

#include "services/links/decide.hpp"
#include "services/links/target.hpp"

namespace tenon::links {
namespace {

/// A browser may keep a permanent redirect this long; longer, and an edit would not be seen.
constexpr std::string_view cache_permanent = "private, max-age=60";
constexpr std::string_view cache_never = "private, no-store";

constexpr std::string_view unknown_page =
    "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>No such link</title>"
    "<h1>No such link</h1><p>Check the address for a typing error.</p></html>\n";
constexpr std::string_view expired_page =
    "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Link expired</title>"
    "<h1>This link has expired</h1><p>Ask whoever gave it to you for a new one.</p></html>\n";

void answer_page(int status, std::string_view page, http::Response& response) {
    response.set_status(status);
    response.add_header("Cache-Control", cache_never);
    response.add_header("X-Robots-Tag", "noindex");
    response.set_body("text/html; charset=utf-8", page);
}

}  // namespace

void answer_visit(const Target* target, const http::Request& request, base::Time now,
                  http::Response& response) {
    if (target == nullptr) return answer_page(404, unknown_page, response);
    if (decide_visit(*target, now) == Visit::expired) {
        return answer_page(410, expired_page, response);
    }
    const bool permanent = target->status == 301 || target->status == 308;
    response.set_status(target->status);
    if (target->forward_query && !request.query.empty()) {
        response.add_header("Location", append_query(target->url, request.query));
    } else {
        response.add_header("Location", target->url);
    }
    response.add_header("Cache-Control", permanent ? cache_permanent : cache_never);
    response.add_header("X-Robots-Tag", "noindex");
}

}  // namespace tenon::links
