#include "services/links/routes.hpp"

#include <utility>

#include "base/errors.hpp"
#include "http/problem.hpp"
#include "services/links/errors.hpp"
#include "services/links/fields.hpp"
#include "services/links/redirect.hpp"
#include "storage/errors.hpp"

namespace tenon::links {

using boost::asio::awaitable;
using http::Method;
using http::Nothing;

namespace {

constexpr std::string_view list_path = "/v1/links";
constexpr std::string_view bulk_path = "/v1/links/bulk";
constexpr std::string_view link_path = "/v1/links/{code}";

http::Spec create_spec() {
    return {.method = Method::post,
            .path = list_path,
            .scope = "links:write",
            .idempotent_by_key = true,
            .success = 201,
            .summary = "Make a short link",
            .details =
                "The same `Idempotency-Key` with the same body gives the link made before. With an "
                "alias the key is kept beside the alias, so the same key with another alias is "
                "another request.",
            .errors = {&errors::invalid_target, &errors::target_is_own, &errors::invalid_alias,
                       &errors::alias_taken, &errors::unknown_domain, &errors::invalid_expiry,
                       &errors::invalid_status, &storage::errors::claim_mismatch,
                       &storage::errors::claim_running},
            .tag = "links",
            .follow_ups = {{"ShowLink", Method::get, link_path, "code", "/code"},
                           {"ChangeLink", Method::patch, link_path, "code", "/code"},
                           {"DeleteLink", Method::del, link_path, "code", "/code"}}};
}

http::Spec create_all_spec() {
    return {.method = Method::post,
            .path = bulk_path,
            .scope = "links:write",
            .priority = runtime::Priority::bulk,
            .idempotent_by_key = true,
            .summary = "Make many short links",
            .details =
                "Every item gets its own verdict. Repeat with the same `Idempotency-Key` and body "
                "until an answer comes: items made before are given back, the rest is made.",
            .errors = {&storage::errors::claim_mismatch, &storage::errors::claim_running},
            .tag = "links"};
}

http::Spec list_spec() {
    return {.method = Method::get,
            .path = list_path,
            .scope = "links:read",
            .summary = "List links, newest first",
            .details = "",
            .errors = {&base::errors::invalid_cursor, &errors::unknown_domain},
            .tag = "links",
            .follow_ups = {{"NextPage", Method::get, list_path, "cursor", "/next_cursor"}}};
}

http::Spec get_spec() {
    return {.method = Method::get,
            .path = link_path,
            .scope = "links:read",
            .summary = "Show a link",
            .details = "",
            .errors = {&errors::not_found, &errors::unknown_domain},
            .tag = "links"};
}

http::Spec edit_spec() {
    return {.method = Method::patch,
            .path = link_path,
            .scope = "links:write",
            .summary = "Change a link",
            .details = "Members left out stay as they are; null removes a title or an expiry.",
            .errors = {&errors::not_found, &errors::unknown_domain, &errors::cannot_remove,
                       &errors::invalid_target, &errors::target_is_own, &errors::invalid_expiry,
                       &errors::invalid_status},
            .tag = "links"};
}

http::Spec remove_spec() {
    return {.method = Method::del,
            .path = link_path,
            .scope = "links:write",
            .success = 204,
            .summary = "Delete a link",
            .details = "Frees an alias for a new link; a drawn code is never used again.",
            .errors = {&errors::not_found, &errors::unknown_domain},
            .tag = "links"};
}

http::SpecAnswer leads(int status, std::string_view meaning) {
    return {.status = status,
            .meaning = meaning,
            .headers = {"Location", "Cache-Control", "X-Robots-Tag"}};
}

http::SpecAnswer page(int status, std::string_view meaning) {
    return {.status = status,
            .meaning = meaning,
            .media_type = "text/html",
            .headers = {"Cache-Control", "X-Robots-Tag"}};
}

http::Spec visit_spec() {
    return {.method = Method::get,
            .path = "",
            .summary = "Follow a short link",
            .details = "The link's domain is the Host asked. HEAD gives the same without a page.",
            .errors = {},
            .tag = "links",
            .answers = {leads(301, "It leads there for good."), leads(302, "It leads there."),
                        leads(307, "It leads there, with the same method."),
                        leads(308, "It leads there for good, with the same method."),
                        page(404, "No such link."), page(410, "The link has expired.")}};
}

std::string_view host_of(const http::Request& request) {
    return request.header("Host").value_or("");
}

/// The refusals of items name their types as problems do.
awaitable<base::Result<Verdicts>> create_all(runtime::Call& call, Links& links, CreateLinks body) {
    auto verdicts = co_await links.create_all(call, std::move(body));
    if (!verdicts) co_return verdicts;
    for (auto& verdict : verdicts->results) {
        if (verdict.error) verdict.error->type.insert(0, http::problem_base);
    }
    co_return verdicts;
}

void add_management(http::Router& router, const OfCore& links) {
    router.add<Nothing, CreateLink, Link>(
        create_spec(), [links](runtime::Call& call, Nothing, CreateLink body) {
            return links(*call.core).create(call, std::move(body));
        });
    router.add<Nothing, CreateLinks, Verdicts>(
        create_all_spec(), [links](runtime::Call& call, Nothing, CreateLinks body) {
            return create_all(call, links(*call.core), std::move(body));
        });
    router.add<ListLinks, Nothing, LinkPage>(
        list_spec(), [links](runtime::Call& call, ListLinks which, Nothing) {
            return links(*call.core).list(call, std::move(which));
        });
    router.add<ByCode, Nothing, Link>(get_spec(),
                                      [links](runtime::Call& call, ByCode which, Nothing) {
                                          return links(*call.core).get(call, std::move(which));
                                      });
    router.add<ByCode, EditLink, Link>(
        edit_spec(), [links](runtime::Call& call, ByCode which, EditLink body) {
            return links(*call.core).edit(call, std::move(which), std::move(body));
        });
}

awaitable<base::Result<Nothing>> remove(runtime::Call& call, Links& links, ByCode which) {
    const auto removed = co_await links.remove(call, std::move(which));
    if (!removed) co_return base::fail(removed.error());
    co_return Nothing{};
}

/// A path names a link by its one segment.
std::string_view name_of(const http::Request& request) {
    return request.path.substr(1);
}

bool visit_at_once(const OfCore& links, runtime::Core& core, const http::Request& request,
                   http::Response& response) {
    const auto now = core.clock().now();
    return links(core).with_near(
        host_of(request), name_of(request), std::chrono::steady_clock::now(),
        [&](const Target* target) { answer_visit(target, request, now, response); });
}

awaitable<void> visit(Links& links, runtime::Call& call, const http::Request& request,
                      http::Response& response) {
    const auto target = co_await links.resolve(call, host_of(request), name_of(request));
    answer_visit(target.get(), request, call.now, response);
}

}  // namespace

void add_routes(http::Router& router, const OfCore& links) {
    add_management(router, links);
    router.add<ByCode, Nothing, Nothing>(
        remove_spec(), [links](runtime::Call& call, ByCode which, Nothing) {
            return remove(call, links(*call.core), std::move(which));
        });
    router.set_fallback(
        [links](runtime::Core& core, const http::Request& request, http::Response& response) {
            return visit_at_once(links, core, request, response);
        },
        [links](runtime::Call& call, const http::Request& request, http::Response& response) {
            return visit(links(*call.core), call, request, response);
        },
        visit_spec());
}

}  // namespace tenon::links
