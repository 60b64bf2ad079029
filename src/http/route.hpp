// What the router knows of an endpoint, and what it says of a request.
#pragma once

#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "http/spec.hpp"
#include "runtime/metrics.hpp"

namespace tenon::http {

inline constexpr std::size_t methods_total = 8;
/// The most {parameters} of one path.
inline constexpr std::size_t captures_max = 8;

/// What the OpenAPI document says of an endpoint's input and output.
struct EndpointDocument {
    boost::json::array parameters;
    boost::json::object body;                            ///< schema; empty: no body
    boost::json::object answer;                          ///< schema; empty: no body
    std::map<std::string, boost::json::object> schemas;  ///< components, by name
    bool typed = false;
};

/// RED: requests by status class and their durations.
struct EndpointMetrics {
    std::array<runtime::Counter, 6> requests;  ///< [status / 100]
    runtime::Histogram durations;
};

/// A declared endpoint.
struct Endpoint {
    Spec spec;
    std::function<boost::asio::awaitable<void>(Exchange&)> run;
    EndpointDocument document;
    std::vector<std::string_view> capture_names{};  ///< filled by the router
    EndpointMetrics metrics{};                      ///< filled by the router
};

/// Where a request goes.
struct Route {
    enum class Kind : std::uint8_t { endpoint, fallback, options, wrong_method, nowhere };

    Kind kind = Kind::nowhere;
    const Endpoint* endpoint = nullptr;                     ///< of an endpoint, or the fallback's
    std::string_view allow{};                               ///< for options and wrong_method
    std::array<std::string_view, captures_max> captures{};  ///< still percent-encoded
    std::size_t captures_count = 0;

    /// The captured segment of that name; Expects: the endpoint has it.
    [[nodiscard]] std::string_view capture(std::string_view name) const;
};

/// "GET"; "OTHER" for a method that no endpoint can have.
[[nodiscard]] std::string_view name_of(Method method);

}  // namespace tenon::http
