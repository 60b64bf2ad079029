// Endpoints are declared once: the declaration routes, checks, answers and documents them.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "http/message.hpp"
#include "runtime/call.hpp"

namespace tenon::http {

/// What an endpoint is, apart from its input and output.
struct Spec {
    Method method;
    std::string_view path;         ///< "/v1/links/{code}"
    std::string_view scope;        ///< "links:write"; empty: no credentials needed
    runtime::Priority priority = runtime::Priority::normal;
    bool idempotent_by_key = false;  ///< takes Idempotency-Key (every POST that changes something)
    int success = 200;               ///< status of the first answer and of every replay
    std::string_view summary;        ///< one line for the document
    std::string_view details;        ///< a paragraph for the document; Markdown
    std::vector<const base::ErrorType*> errors;  ///< the closed set beyond those of http itself
    std::string_view tag;            ///< service
};

/// Documentation and bounds of one field, given by specialising fields_of<T>().
struct FieldSpec {
    std::string_view name;
    std::string_view meaning;
    std::string_view example;       ///< JSON
    std::size_t length_max = 0;     ///< characters of a string or items of an array; 0: 65,536
    std::int64_t minimum = 0;       ///< for integers, with maximum
    std::int64_t maximum = 0;       ///< 0 with minimum 0: no bound
};

/// The fields of a described struct, for validation and for the OpenAPI document. Every described
/// struct of an endpoint specialises it, in namespace tenon::http, with one FieldSpec per member:
///
///     template <>
///     struct fields_of<links::CreateLink> {
///         static constexpr FieldSpec list[] = {
///             {.name = "url", .meaning = "Where it leads", .example = R"("https://a.example")",
///              .length_max = 2048},
///         };
///     };
///
/// A member without a FieldSpec, and a FieldSpec without a member, do not compile.
template <class T>
struct fields_of;

/// No path or query parameters, or no body; answered as 204.
struct Nothing {};

/// A typed handler. Params: described struct of path and query parameters (std::string, integers,
/// bool, optional of those). Body: described struct read from JSON. Out: described struct, or
/// Nothing for 204.
template <class Params, class Body, class Out>
using Handler = std::function<boost::asio::awaitable<base::Result<Out>>(runtime::Call&, Params,
                                                                        Body)>;

/// Answers by itself, for what is not JSON: /metrics, /docs, redirects.
using RawHandler =
    std::function<boost::asio::awaitable<void>(runtime::Call&, const Request&, Response&)>;

/// Tries to answer at once, without a coroutine; false leaves it to the RawHandler.
using InlineHandler = std::function<bool(runtime::Core&, const Request&, Response&)>;

/// All endpoints of a process. Filled before the server starts, then only read.
///
/// Threads: any, once filled. Handlers find their core's parts by call.core.
class Router {
public:
    template <class Params, class Body, class Out>
    void add(Spec spec, Handler<Params, Body, Out> handler);
    void add_raw(Spec spec, RawHandler handler);
    /// Everything whose first path segment no endpoint owns: GET and HEAD of /{code}.
    void set_fallback(InlineHandler at_once, RawHandler handler);
    /// First path segments that no alias may take: "v1", "healthz", "docs", ...
    [[nodiscard]] std::vector<std::string> reserved_segments() const;
    /// The OpenAPI 3.1 document, JSON, stable order.
    [[nodiscard]] std::string openapi(std::string_view server_url) const;
};

}  // namespace tenon::http
