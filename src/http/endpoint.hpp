// Endpoints are declared once: the declaration routes, checks, answers and documents them.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/route.hpp"
#include "http/spec.hpp"
#include "http/typed.hpp"

namespace tenon::http {

/// All endpoints of a process. Filled before the server starts, then only read.
///
/// Threads: any, once filled. Handlers find their core's parts by call.core.
class Router {
public:
    Router();
    ~Router();
    Router(const Router&) = delete;
    Router& operator=(const Router&) = delete;

    /// Expects: no endpoint of that method and path; the texts of `spec` live as long as the
    /// router; the first segment is no template; Params has a member for every {name}.
    template <class Params, class Body, class Out>
    void add(Spec spec, Handler<Params, Body, Out> handler) {
        add(make_endpoint<Params, Body, Out>(std::move(spec), std::move(handler)));
    }
    void add_raw(Spec spec, RawHandler handler);
    /// Everything whose first path segment no endpoint owns: GET and HEAD of /{code}. Of `spec`
    /// counts what describes it; without a summary it stays out of the document.
    void set_fallback(InlineHandler at_once, RawHandler handler, Spec spec = {});
    /// With what the authenticator refuses credentials, for the document.
    void document_credentials(std::vector<const base::ErrorType*> refusals);
    /// First path segments that no alias may take: "v1", "healthz", "docs", ...
    [[nodiscard]] std::vector<std::string> reserved_segments() const;
    /// The OpenAPI 3.1 document, JSON, stable order.
    [[nodiscard]] std::string openapi(std::string_view server_url) const;

    /// Where a request goes.
    ///
    /// Cost: one hash for a path without parameters or an unknown first segment, else O(segments);
    ///       no allocation.
    [[nodiscard]] Route find(Method method, std::string_view path) const;
    [[nodiscard]] const InlineHandler& fallback_at_once() const;
    [[nodiscard]] std::vector<const Endpoint*> endpoints() const;

private:
    struct Table;
    void add(Endpoint endpoint);
    std::unique_ptr<Table> table_;
};

}  // namespace tenon::http
