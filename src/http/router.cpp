#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "base/assert.hpp"
#include "http/endpoint.hpp"
#include "http/openapi.hpp"
#include "http/route.hpp"

namespace tenon::http {

namespace {

/// One segment of the paths: what may follow it, and what answers at it.
struct Node {
    std::map<std::string, std::unique_ptr<Node>, std::less<>> children;
    std::unique_ptr<Node> capture;
    std::array<const Endpoint*, methods_total> by_method{};
    std::string allow;
};

std::string_view take_segment(std::string_view& path) {
    if (path.starts_with('/')) path.remove_prefix(1);
    const std::size_t end = std::min(path.find('/'), path.size());
    const std::string_view segment = path.substr(0, end);
    path.remove_prefix(end);
    return segment;
}

bool is_capture(std::string_view segment) {
    return segment.size() > 2 && segment.front() == '{' && segment.back() == '}';
}

void note_allowed(Node& node) {
    node.allow.clear();
    for (std::size_t method = 0; method < methods_total; ++method) {
        if (node.by_method[method] == nullptr) continue;
        node.allow.append(name_of(static_cast<Method>(method))).append(", ");
    }
    node.allow.append("OPTIONS");
}

// A literal segment is tried before a parameter; at most as deep as the deepest declared path.
const Node* match(const Node& node, std::string_view path, Route& route) {
    if (path.empty()) return node.allow.empty() ? nullptr : &node;
    const std::string_view segment = take_segment(path);
    if (const auto child = node.children.find(segment); child != node.children.end()) {
        if (const Node* const found = match(*child->second, path, route)) return found;
    }
    if (!node.capture || segment.empty()) return nullptr;
    const std::size_t count = route.captures_count;
    route.captures[route.captures_count++] = segment;
    const Node* const found = match(*node.capture, path, route);
    if (found == nullptr) route.captures_count = count;
    return found;
}

Route at(const Node* node, Method method, Route route) {
    if (node == nullptr) return route;
    route.endpoint = node->by_method[static_cast<std::size_t>(method)];
    route.allow = node->allow;
    if (route.endpoint != nullptr) {
        route.kind = Route::Kind::endpoint;
    } else {
        route.kind = method == Method::options ? Route::Kind::options : Route::Kind::wrong_method;
    }
    return route;
}

struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
        return std::hash<std::string_view>{}(text);
    }
};

EndpointMetrics make_metrics(const Spec& spec) {
    const std::string name = std::string(name_of(spec.method)).append(" ").append(spec.path);
    EndpointMetrics made;
    for (std::size_t hundred = 1; hundred < made.requests.size(); ++hundred) {
        made.requests[hundred] = runtime::metrics().counter(
            {.name = "tenon_http_requests_total",
             .help = "Requests answered, by endpoint and status class.",
             .labels = {{"endpoint", name}, {"status", std::to_string(hundred) + "xx"}}});
    }
    made.durations = runtime::metrics().durations(
        {.name = "tenon_http_request_duration_seconds",
         .help = "From a complete request to its complete answer, by endpoint.",
         .labels = {{"endpoint", name}}});
    return made;
}

}  // namespace

struct Router::Table {
    std::vector<std::unique_ptr<Endpoint>> endpoints;
    Node root;
    std::unordered_map<std::string, const Node*, TextHash, std::equal_to<>> literal_paths;
    std::unordered_set<std::string, TextHash, std::equal_to<>> first_segments;
    InlineHandler fallback_at_once;
    std::unique_ptr<Endpoint> fallback;
    std::vector<const base::ErrorType*> of_credentials;
};

Router::Router() : table_(std::make_unique<Table>()) {}
Router::~Router() = default;

void Router::add(Endpoint endpoint) {
    const std::string_view path = endpoint.spec.path;
    TENON_ASSERT(path.starts_with('/'));
    std::string_view left = path;
    Node* node = &table_->root;
    while (!left.empty()) {
        const std::string_view segment = take_segment(left);
        const bool captures = is_capture(segment);
        TENON_ASSERT(!captures || node != &table_->root);
        if (captures) endpoint.capture_names.push_back(segment.substr(1, segment.size() - 2));
        auto& next = captures ? node->capture : node->children[std::string(segment)];
        if (!next) next = std::make_unique<Node>();
        node = next.get();
    }
    TENON_ASSERT(endpoint.capture_names.size() <= captures_max);
    const auto method = static_cast<std::size_t>(endpoint.spec.method);
    TENON_ASSERT(node->by_method[method] == nullptr);
    const bool literal = endpoint.capture_names.empty();
    endpoint.metrics = make_metrics(endpoint.spec);
    const auto& stored =
        table_->endpoints.emplace_back(std::make_unique<Endpoint>(std::move(endpoint)));
    node->by_method[method] = stored.get();
    if (stored->spec.method == Method::get) {
        node->by_method[static_cast<std::size_t>(Method::head)] = stored.get();
    }
    note_allowed(*node);
    if (literal) table_->literal_paths.emplace(path, node);
    left = path;
    table_->first_segments.emplace(take_segment(left));
}

void Router::add_raw(Spec spec, RawHandler handler) {
    Endpoint endpoint{.spec = std::move(spec), .run = {}, .document = {}};
    endpoint.run = [raw = std::move(handler)](Exchange& exchange) {
        return raw(exchange.call, exchange.request, exchange.response);
    };
    add(std::move(endpoint));
}

void Router::set_fallback(InlineHandler at_once, RawHandler handler, Spec spec) {
    table_->fallback_at_once = std::move(at_once);
    spec.method = Method::get;
    spec.path = "/{code}";
    spec.priority = runtime::Priority::core;
    Endpoint endpoint{.spec = std::move(spec), .run = {}, .document = {}};
    constexpr FieldSpec code{
        .name = "code", .meaning = "A code or an alias.", .pattern = "^[A-Za-z0-9_-]{1,128}$"};
    endpoint.document.parameters.push_back(
        detail::document_parameter(code, true, true, detail::text_schema(code)));
    endpoint.run = [raw = std::move(handler)](Exchange& exchange) {
        return raw(exchange.call, exchange.request, exchange.response);
    };
    endpoint.metrics = make_metrics(endpoint.spec);
    table_->fallback = std::make_unique<Endpoint>(std::move(endpoint));
}

Route Router::find(Method method, std::string_view path) const {
    std::string_view left = path;
    if (!table_->first_segments.contains(take_segment(left))) {
        Route route;
        if (!table_->fallback) return route;
        route.endpoint = table_->fallback.get();
        route.allow = "GET, HEAD, OPTIONS";
        if (method == Method::get || method == Method::head) {
            route.kind = Route::Kind::fallback;
        } else {
            route.kind =
                method == Method::options ? Route::Kind::options : Route::Kind::wrong_method;
        }
        return route;
    }
    const auto literal = table_->literal_paths.find(path);
    if (literal != table_->literal_paths.end()) return at(literal->second, method, Route{});
    Route route;
    const Node* const node = match(table_->root, path, route);
    return at(node, method, route);
}

void Router::document_credentials(std::vector<const base::ErrorType*> refusals) {
    table_->of_credentials = std::move(refusals);
}

const InlineHandler& Router::fallback_at_once() const {
    return table_->fallback_at_once;
}

std::vector<std::string> Router::reserved_segments() const {
    const std::set<std::string> sorted(table_->first_segments.begin(),
                                       table_->first_segments.end());
    return {sorted.begin(), sorted.end()};
}

std::vector<const Endpoint*> Router::endpoints() const {
    std::vector<const Endpoint*> all;
    for (const auto& endpoint : table_->endpoints) all.push_back(endpoint.get());
    if (table_->fallback) all.push_back(table_->fallback.get());
    std::ranges::sort(all, [](const Endpoint* left, const Endpoint* right) {
        return std::pair(left->spec.path, left->spec.method) <
               std::pair(right->spec.path, right->spec.method);
    });
    return all;
}

std::string Router::openapi(std::string_view server_url) const {
    return write_openapi({.endpoints = endpoints(), .of_credentials = table_->of_credentials},
                         server_url);
}

std::string_view Route::capture(std::string_view name) const {
    const auto& names = endpoint->capture_names;
    const auto found = std::ranges::find(names, name);
    TENON_ASSERT(found != names.end());
    return captures[static_cast<std::size_t>(found - names.begin())];
}

std::string_view name_of(Method method) {
    constexpr std::array<std::string_view, methods_total> names{
        "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "OTHER"};
    return names[static_cast<std::size_t>(method)];
}

}  // namespace tenon::http
