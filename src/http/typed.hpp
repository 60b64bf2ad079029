// What a typed endpoint does with a request before and after its handler.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <concepts>
#include <optional>
#include <string>
#include <utility>

#include "base/result.hpp"
#include "http/parameters.hpp"
#include "http/route.hpp"
#include "http/schema.hpp"
#include "http/spec.hpp"
#include "runtime/json.hpp"

namespace tenon::http {

/// Answers with a problem.
void answer_error(Exchange& exchange, const base::Error& error);

namespace detail {

[[nodiscard]] std::optional<base::Error> check_media_type(const Request& request);
/// Turns an Idempotency-Key into the call's claim, where the endpoint takes one.
[[nodiscard]] std::optional<base::Error> set_claim(Exchange& exchange);
/// Answers with the endpoint's status of success.
void answer_json(Exchange& exchange, std::string_view json);
void answer_nothing(Exchange& exchange);

/// Errors: http.media_type, json.invalid, json.mismatch.
template <class Body>
[[nodiscard]] base::Result<Body> read_body(const Request& request) {
    if constexpr (std::same_as<Body, Nothing>) {
        return Nothing{};
    } else {
        if (auto refused = check_media_type(request)) return base::fail(std::move(*refused));
        return runtime::from_json<Body, FieldBounds>(request.body);
    }
}

template <class Out>
void answer_value(Exchange& exchange, const Out& out) {
    if constexpr (std::same_as<Out, Nothing>) {
        answer_nothing(exchange);
    } else {
        answer_json(exchange, runtime::to_json(out));
    }
}

template <class Params, class Body, class Out>
boost::asio::awaitable<void> run_typed(const Handler<Params, Body, Out>& handler,
                                       Exchange& exchange) {
    base::Result<Params> params = read_parameters<Params>(exchange.request, exchange.route);
    if (!params) co_return answer_error(exchange, params.error());
    base::Result<Body> body = read_body<Body>(exchange.request);
    if (!body) co_return answer_error(exchange, body.error());
    if (const auto refused = set_claim(exchange)) co_return answer_error(exchange, *refused);
    const base::Result<Out> out =
        co_await handler(exchange.call, std::move(*params), std::move(*body));
    if (!out) co_return answer_error(exchange, out.error());
    answer_value(exchange, *out);
}

template <class Params>
void document_parameters(const Spec& spec, EndpointDocument& document) {
    for_each_field<Params>([&]<class M>(M Params::*, const FieldSpec& field) {
        const bool in_path =
            spec.path.find("{" + std::string(field.name) + "}") != std::string_view::npos;
        boost::json::object schema = schema_of<M>(field, document.schemas, Side::read);
        document.parameters.push_back(
            document_parameter(field, in_path, !runtime::is_optional<M>, std::move(schema)));
    });
}

template <class T>
[[nodiscard]] boost::json::object document_value(EndpointDocument& document, Side side) {
    if constexpr (std::same_as<T, Nothing>) {
        return {};
    } else {
        return schema_of<T>(FieldSpec{}, document.schemas, side);
    }
}

}  // namespace detail

/// An endpoint that reads, checks, runs its handler and answers; with its part of the document.
template <class Params, class Body, class Out>
[[nodiscard]] Endpoint make_endpoint(Spec spec, Handler<Params, Body, Out> handler) {
    EndpointDocument document;
    document.typed = true;
    detail::document_parameters<Params>(spec, document);
    document.body = detail::document_value<Body>(document, Side::read);
    document.answer = detail::document_value<Out>(document, Side::written);
    auto run = [handler = std::move(handler)](Exchange& exchange) {
        return detail::run_typed<Params, Body, Out>(handler, exchange);
    };
    return {.spec = std::move(spec), .run = std::move(run), .document = std::move(document)};
}

}  // namespace tenon::http
