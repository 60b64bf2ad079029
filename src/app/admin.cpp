#include "app/admin.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/describe.hpp>
#include <memory>
#include <mutex>

#include "app/docs_page.hpp"
#include "http/compress.hpp"
#include "runtime/json.hpp"
#include "runtime/metrics.hpp"

namespace tenon::app {

namespace {

using boost::asio::awaitable;
using http::Method;
using http::Request;
using http::Response;

/// One line of /readyz.
struct Check {
    std::string name;
    bool up = false;
    bool needed = true;
    std::optional<std::string> reason;
};
BOOST_DESCRIBE_STRUCT(Check, (), (name, up, needed, reason))

/// The answer of /readyz.
struct Readiness {
    std::string status;
    std::vector<Check> checks;
};
BOOST_DESCRIBE_STRUCT(Readiness, (), (status, checks))

constexpr std::string_view landing_page =
    "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Tenon</title>"
    "<h1>Tenon</h1><p>This server is up. Its API is described at "
    "<a href=\"/docs\">/docs</a>.</p></html>\n";

http::Spec open_spec(std::string_view path, std::string_view summary, std::string_view media_type) {
    return {.method = Method::get,
            .path = path,
            .scope = "",
            .priority = runtime::Priority::vital,
            .summary = summary,
            .details = "",
            .errors = {},
            .tag = "server",
            .answers = {{.media_type = media_type, .headers = {"Tenon-Request-Id"}}}};
}

http::Spec ready_spec() {
    http::Spec spec = open_spec("/readyz", "200 while requests are served; says what is not up",
                                "application/json");
    spec.answers.push_back({.status = 503,
                            .meaning = "Requests are not served; the checks say why.",
                            .media_type = "application/json",
                            .headers = {"Tenon-Request-Id", "Retry-After"}});
    return spec;
}

Readiness judge(std::vector<Dependency> dependencies, bool is_draining) {
    Readiness readiness{.status = "ready", .checks = {}};
    for (auto& dependency : dependencies) {
        if (!dependency.is_up && readiness.status == "ready") readiness.status = "degraded";
        if (!dependency.is_up && dependency.is_needed) readiness.status = "not ready";
        readiness.checks.push_back(
            {.name = std::move(dependency.name),
             .up = dependency.is_up,
             .needed = dependency.is_needed,
             .reason = dependency.is_up ? std::nullopt : std::optional(dependency.why_down)});
    }
    if (is_draining) readiness.status = "draining";
    return readiness;
}

void answer_readiness(const Readiness& readiness, Response& response) {
    const bool serves = readiness.status == "ready" || readiness.status == "degraded";
    response.set_status(serves ? 200 : 503);
    response.add_header("Cache-Control", "no-store");
    if (!serves) response.add_header("Retry-After", "1");
    response.set_body("application/json", runtime::to_json(readiness));
}

awaitable<void> answer_text(Response& response, std::string_view type, std::string body) {
    response.set_body(type, body);
    co_return;
}

awaitable<void> answer_constant(Response& response, std::string_view type,
                                std::shared_ptr<const http::ConstantBody> body) {
    response.set_constant_body(type, std::move(body));
    co_return;
}

/// The address by which this request reached the server.
std::string server_url(const Request& request) {
    return (request.secure ? "https://" : "http://") +
           std::string(request.header("Host").value_or("localhost"));
}

awaitable<void> answer_ready(const AdminFacts& facts, Response& response) {
    auto dependencies = co_await facts.dependencies();
    answer_readiness(judge(std::move(dependencies), facts.is_draining()), response);
}

/// The document, made once; only the server's URL differs between requests.
class ApiDocument {
public:
    explicit ApiDocument(const http::Router& router) : router_(router) {}
    /// Most ask by one and the same address, for which the document is kept.
    [[nodiscard]] std::shared_ptr<const http::ConstantBody> for_server(const std::string& url) {
        const std::lock_guard lock(guard_);
        if (!kept_ || url != kept_for_) {
            kept_ = http::make_constant_body(write(url));
            kept_for_ = url;
        }
        return kept_;
    }

private:
    std::string write(const std::string& url) {
        if (before_.empty()) {
            const auto text = router_.openapi(placeholder);
            const auto place = text.find(placeholder);
            before_ = text.substr(0, place);
            after_ = text.substr(place + placeholder.size());
        }
        std::string text = before_;
        runtime::append_json(text, url);
        // append_json writes the quotes too, which the halves have already.
        text.erase(before_.size(), 1);
        text.pop_back();
        return text.append(after_);
    }

    static constexpr std::string_view placeholder = "https://tenon.invalid";
    const http::Router& router_;
    std::mutex guard_;
    std::string kept_for_;
    std::shared_ptr<const http::ConstantBody> kept_;
    std::string before_;
    std::string after_;
};

void add_pages(http::Router& router) {
    const auto document = std::make_shared<ApiDocument>(router);
    router.add_raw(open_spec("/openapi.json", "This document", "application/json"),
                   [document](runtime::Call&, const Request& request, Response& response) {
                       return answer_constant(response, "application/json",
                                              document->for_server(server_url(request)));
                   });
    const auto page = http::make_constant_body(std::string(docs_page()));
    router.add_raw(open_spec("/docs", "The API, for people", "text/html"),
                   [page](runtime::Call&, const Request&, Response& response) {
                       return answer_constant(response, "text/html; charset=utf-8", page);
                   });
    router.add_raw(open_spec("/", "Where to go", "text/html"), [](runtime::Call&, const Request&,
                                                                  Response& response) {
        return answer_text(response, "text/html; charset=utf-8", std::string(landing_page));
    });
}

/// One part as all cores see it; `index` is its place in what each says.
Dependency merge_one(std::span<const std::vector<Dependency>> by_core, std::size_t index) {
    auto merged = by_core.front()[index];
    std::vector<std::string> reasons;
    std::size_t down = 0;
    for (const auto& own : by_core) {
        const auto& seen = own[index];
        merged.is_up = merged.is_up && seen.is_up;
        merged.is_needed = merged.is_needed || seen.is_needed;
        if (seen.is_up) continue;
        ++down;
        if (std::ranges::find(reasons, seen.why_down) == reasons.end()) {
            reasons.push_back(seen.why_down);
        }
    }
    merged.why_down = fmt::format("{}", fmt::join(reasons, "; "));
    if (down > 0 && down < by_core.size()) {
        merged.why_down =
            fmt::format("on {} of {} cores: {}", down, by_core.size(), merged.why_down);
    }
    return merged;
}

}  // namespace

std::vector<Dependency> merge_dependencies(std::span<const std::vector<Dependency>> by_core) {
    std::vector<Dependency> merged;
    if (by_core.empty()) return merged;
    for (std::size_t index = 0; index < by_core.front().size(); ++index) {
        merged.push_back(merge_one(by_core, index));
    }
    return merged;
}

void add_admin_routes(http::Router& router, const AdminFacts& facts) {
    router.add_raw(open_spec("/healthz", "200 while the process lives", "text/plain"),
                   [](runtime::Call&, const Request&, Response& response) {
                       return answer_text(response, "text/plain; charset=utf-8", "ok\n");
                   });
    router.add_raw(ready_spec(), [facts](runtime::Call&, const Request&, Response& response) {
        return answer_ready(facts, response);
    });
    router.add_raw(open_spec("/metrics", "Prometheus text", "text/plain"),
                   [](runtime::Call&, const Request&, Response& response) {
                       return answer_text(response, runtime::metrics_content_type,
                                          runtime::metrics().expose());
                   });
    add_pages(router);
}

}  // namespace tenon::app
