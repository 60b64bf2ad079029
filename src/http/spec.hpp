// What an endpoint is declared with.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/describe/class.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "http/message.hpp"
#include "runtime/call.hpp"

namespace tenon::http {

/// One answer of an endpoint that is not typed, for the document.
struct SpecAnswer {
    int status = 200;
    std::string_view meaning = "Done.";
    std::string_view media_type{};            ///< empty: no body
    std::vector<std::string_view> headers{};  ///< names
};

/// Where an answer leads: a member of its body is a parameter of another endpoint. For the
/// document.
struct SpecLink {
    std::string_view name;       ///< "GetLink"
    Method method;               ///< of the other endpoint
    std::string_view path;       ///< of the other endpoint
    std::string_view parameter;  ///< "code"
    std::string_view pointer;    ///< "/code", into the answer's body
};

/// What an endpoint is, apart from its input and output.
struct Spec {
    Method method;
    std::string_view path;     ///< "/v1/links/{code}"
    std::string_view scope{};  ///< "links:write"; empty: no credentials needed
    runtime::Priority priority = runtime::Priority::normal;
    bool idempotent_by_key = false;  ///< takes Idempotency-Key (every POST that changes something)
    int success = 200;               ///< status of the first answer and of every replay
    std::string_view summary{};      ///< one line for the document
    std::string_view details{};      ///< a paragraph for the document; Markdown
    std::vector<const base::ErrorType*> errors{};  ///< the closed set beyond those of http itself
    std::string_view tag{};                        ///< service
    std::vector<SpecAnswer> answers{};             ///< of a raw endpoint; a typed one has its own
    std::vector<SpecLink> follow_ups{};            ///< where the first answer leads
};

/// Documentation and bounds of one field, given by specialising fields_of<T>().
struct FieldSpec {
    std::string_view name{};
    std::string_view meaning{};
    std::string_view example{};       ///< JSON
    std::size_t length_max = 0;       ///< characters of a string or items of an array; 0: 65,536
    std::int64_t minimum = 0;         ///< for integers, with maximum
    std::int64_t maximum = 0;         ///< 0 with minimum 0: no bound
    std::size_t item_length_max = 0;  ///< characters of each string in an array; 0: 65,536
    // For the document only: the handler, or the type, holds a client to these.
    std::string_view pattern{};               ///< of a string; empty: any text without U+0000
    std::string_view format{};                ///< of a string
    std::span<const std::int64_t> choices{};  ///< the only integers there are
    bool removable = true;                    ///< of a Patch: null removes the value
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

/// No path or query parameters, or no body; as an answer: 204.
struct Nothing {};
BOOST_DESCRIBE_STRUCT(Nothing, (), ())

/// A typed handler. Params: described struct of path and query parameters (std::string, integers,
/// bool, optional of those). Body: described struct read from JSON. Out: described struct, or
/// Nothing for 204.
template <class Params, class Body, class Out>
using Handler =
    std::function<boost::asio::awaitable<base::Result<Out>>(runtime::Call&, Params, Body)>;

/// Answers by itself, for what is not JSON: /metrics, /docs, redirects.
using RawHandler =
    std::function<boost::asio::awaitable<void>(runtime::Call&, const Request&, Response&)>;

/// Tries to answer at once, without a coroutine; false leaves it to the RawHandler.
using InlineHandler = std::function<bool(runtime::Core&, const Request&, Response&)>;

struct Route;

/// One request on its way through an endpoint; what it refers to outlives the coroutine that serves
/// it.
struct Exchange {
    runtime::Call& call;
    const Request& request;
    Response& response;
    const Route& route;
};

}  // namespace tenon::http
