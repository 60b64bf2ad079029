#include "http/openapi.hpp"

#include <array>
#include <boost/json/serialize.hpp>
#include <map>
#include <set>

#include "http/errors.hpp"
#include "http/problem.hpp"
#include "http/response_text.hpp"
#include "http/schema.hpp"
#include "http/text.hpp"
#include "runtime/errors.hpp"

namespace tenon::http {

namespace json = boost::json;

namespace {

using ErrorTypes = std::vector<const base::ErrorType*>;

constexpr std::string_view about =
    "Every error is a problem (RFC 9457) with a stable `type`. HEAD answers as GET does, without "
    "the body; OPTIONS and answers with 405 list what a path offers in Allow. What is no clear "
    "request of HTTP/1.1 is refused, and its connection closed, with 400 (http.malformed, "
    "http.ambiguous_length, http.bad_host), 417, 501 or 505. No string may contain U+0000.";

json::object problem_schema() {
    const json::object text{{"type", "string"}};
    const json::object field{
        {"type", "object"},
        {"properties", {{"pointer", text}, {"parameter", text}, {"expected", text}}},
        {"required", {"expected"}}};
    return {{"type", "object"},
            {"description", "What went wrong and what to do next (RFC 9457)."},
            {"properties",
             {{"type", {{"type", "string"}, {"format", "uri"}}},
              {"title", text},
              {"status", {{"type", "integer"}}},
              {"detail", text},
              {"errors", {{"type", "array"}, {"items", field}}},
              {"trace_id", text}}},
            {"required", {"type", "title", "status", "detail", "trace_id"}}};
}

// "get /v1/links/{code}" as "get_v1_links_code".
std::string operation_id(Method method, std::string_view path) {
    std::string id;
    for (const char c : name_of(method)) id.push_back(lower(c));
    for (const char c : path) {
        const bool word =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (word) {
            id.push_back(c);
        } else if (id.back() != '_') {
            id.push_back('_');
        }
    }
    if (id.back() == '_') id.pop_back();
    return id;
}

// What any request may be refused with before an endpoint sees it, whichever it is for. What only a
// client that does not speak HTTP/1.1 meets is told in the document's description.
constexpr std::array refused_at_the_door{&errors::malformed, &errors::request_timeout,
                                         &errors::target_too_long, &errors::header_too_large};

// Every error that an endpoint may answer with, its own first.
ErrorTypes errors_of(const Endpoint& endpoint, const ErrorTypes& of_credentials) {
    ErrorTypes all = endpoint.spec.errors;
    const auto add = [&all](const auto& types) {
        all.insert(all.end(), types.begin(), types.end());
    };
    if (!endpoint.spec.scope.empty()) {
        add(of_credentials);
        add(std::array{&errors::unauthenticated, &errors::scope_missing});
    }
    if (endpoint.document.typed) {
        add(std::array{&errors::invalid_parameters, &errors::invalid_header});
    }
    if (!endpoint.document.body.empty()) {
        add(std::array{&runtime::errors::json_invalid, &runtime::errors::json_mismatch,
                       &errors::media_type, &errors::content_encoding, &errors::body_too_large,
                       &errors::bodies_exhausted});
    }
    add(refused_at_the_door);
    add(std::array{&errors::internal, &errors::unavailable, &errors::deadline_exceeded});
    return all;
}

json::object references(const std::vector<std::string_view>& headers) {
    json::object all;
    for (const std::string_view name : headers) {
        all[name] = {{"$ref", std::string("#/components/headers/").append(name)}};
    }
    return all;
}

void add_headers(json::object& response, const std::vector<std::string_view>& headers) {
    if (headers.empty()) return;
    json::value& given = response["headers"];
    if (given.is_null()) given.emplace_object();
    for (auto& [name, header] : references(headers)) given.as_object()[name] = header;
}

void add_content(json::object& response, std::string_view media_type, json::object schema) {
    json::value& given = response["content"];
    if (given.is_null()) given.emplace_object();
    given.as_object()[media_type] = {{"schema", std::move(schema)}};
}

// Adds the problems of one status to what else is answered with it.
void add_problem(json::object& response, int status, const std::set<std::string>& types) {
    json::array known;
    for (const std::string& type : types) known.emplace_back(type);
    const json::object narrowed{{"properties", {{"type", {{"enum", std::move(known)}}}}}};
    json::array all{json::object{{"$ref", "#/components/schemas/Problem"}}, narrowed};
    if (!response.contains("description")) response["description"] = reason_of(status);
    add_headers(response, {"Tenon-Request-Id"});
    if (status == 401) add_headers(response, {"WWW-Authenticate"});
    if (status == 503) add_headers(response, {"Retry-After"});
    add_content(response, "application/problem+json", {{"allOf", std::move(all)}});
}

json::object links_of(const Spec& spec) {
    json::object links;
    for (const SpecLink& link : spec.follow_ups) {
        const std::string source = std::string("$response.body#").append(link.pointer);
        links[link.name] = {{"operationId", operation_id(link.method, link.path)},
                            {"parameters", {{link.parameter, source}}}};
    }
    return links;
}

json::object success_response(const Endpoint& endpoint) {
    json::object response{{"description", "Done."}};
    add_headers(response, {"Tenon-Request-Id"});
    if (endpoint.spec.idempotent_by_key) add_headers(response, {"Idempotency-Replayed"});
    if (!endpoint.document.answer.empty()) {
        add_content(response, "application/json", endpoint.document.answer);
    }
    if (!endpoint.spec.follow_ups.empty()) response["links"] = links_of(endpoint.spec);
    return response;
}

json::object answer_of(const SpecAnswer& answer) {
    json::object response{{"description", answer.meaning}};
    add_headers(response, answer.headers);
    if (!answer.media_type.empty()) {
        const bool text = answer.media_type.starts_with("text/");
        add_content(response, answer.media_type,
                    text ? json::object{{"type", "string"}} : json::object{});
    }
    return response;
}

json::object responses_of(const Endpoint& endpoint, const ErrorTypes& of_credentials) {
    std::map<int, json::object> by_status;
    for (const SpecAnswer& answer : endpoint.spec.answers) {
        by_status[answer.status] = answer_of(answer);
    }
    if (endpoint.spec.answers.empty()) {
        const bool empty = endpoint.document.typed && endpoint.document.answer.empty();
        by_status[empty ? 204 : endpoint.spec.success] = success_response(endpoint);
    }
    std::map<int, std::set<std::string>> problems;
    for (const base::ErrorType* type : errors_of(endpoint, of_credentials)) {
        problems[status_of(*type)].insert(std::string(problem_base).append(type->slug));
    }
    for (const auto& [status, types] : problems) add_problem(by_status[status], status, types);
    json::object responses;
    for (auto& [status, response] : by_status) {
        responses[std::to_string(status)] = std::move(response);
    }
    return responses;
}

json::array parameters_of(const Endpoint& endpoint) {
    json::array parameters = endpoint.document.parameters;
    if (endpoint.spec.idempotent_by_key) {
        parameters.push_back({{"$ref", "#/components/parameters/IdempotencyKey"}});
    }
    if (endpoint.document.typed) {
        parameters.push_back({{"$ref", "#/components/parameters/Timeout"}});
    }
    return parameters;
}

json::object operation_of(const Endpoint& endpoint, const ErrorTypes& of_credentials) {
    const Spec& spec = endpoint.spec;
    json::object operation{{"operationId", operation_id(spec.method, spec.path)},
                           {"summary", spec.summary}};
    if (!spec.details.empty()) operation["description"] = spec.details;
    if (!spec.tag.empty()) operation["tags"] = json::array{spec.tag};
    if (json::array parameters = parameters_of(endpoint); !parameters.empty()) {
        operation["parameters"] = std::move(parameters);
    }
    if (!endpoint.document.body.empty()) {
        operation["requestBody"] = {
            {"required", true},
            {"content", {{"application/json", {{"schema", endpoint.document.body}}}}}};
    }
    operation["responses"] = responses_of(endpoint, of_credentials);
    operation["security"] = json::array{};
    if (!spec.scope.empty()) {
        operation["security"] = json::array{json::object{{"key", json::array{spec.scope}}}};
    }
    return operation;
}

json::object header_parameter(std::string_view name, std::string_view meaning,
                              std::string_view pattern) {
    return {{"name", name},
            {"in", "header"},
            {"required", false},
            {"description", meaning},
            {"schema", {{"type", "string"}, {"pattern", pattern}}}};
}

json::object header(std::string_view meaning, json::object schema, bool always = true) {
    return {{"description", meaning}, {"required", always}, {"schema", std::move(schema)}};
}

json::object headers_of_answers() {
    const json::object text{{"type", "string"}};
    const json::object seconds{{"type", "integer"}, {"minimum", 1}};
    return {
        {"Tenon-Request-Id", header("Names the request; a problem has it as trace_id.",
                                    {{"type", "string"}, {"pattern", "^[0-9a-f]{32}$"}})},
        {"Retry-After",
         header("Seconds after which repeating the request may help.", seconds, false)},
        {"WWW-Authenticate", header("What credentials are asked for (RFC 6750).", text)},
        {"Idempotency-Replayed",
         header("true when this is the answer of an earlier request with the same Idempotency-Key.",
                {{"type", "string"}, {"enum", json::array{"true"}}}, false)},
        {"Location", header("Where the link leads.", text)},
        {"Cache-Control", header("How long a browser may keep the answer.", text)},
        {"X-Robots-Tag", header("Keeps short links out of search engines.", text)}};
}

json::object components_of(const std::vector<const Endpoint*>& endpoints) {
    Schemas schemas;
    for (const Endpoint* endpoint : endpoints) {
        schemas.insert(endpoint->document.schemas.begin(), endpoint->document.schemas.end());
    }
    schemas["Problem"] = problem_schema();
    json::object written;
    for (auto& [name, schema] : schemas) written[name] = std::move(schema);
    return {{"schemas", std::move(written)},
            {"parameters",
             {{"IdempotencyKey",
               header_parameter("Idempotency-Key",
                                "Makes the request safe to repeat: the same key and body give the "
                                "stored answer, with Idempotency-Replayed: true.",
                                "^[!-~]{1,255}$")},
              {"Timeout", header_parameter("Tenon-Timeout",
                                           "How long the caller waits; only lowers the deadline.",
                                           "^[1-9][0-9]{0,8}(ms|s)$")}}},
            {"headers", headers_of_answers()},
            {"securitySchemes",
             {{"key",
               {{"type", "http"},
                {"scheme", "bearer"},
                {"description", "An API key, or the token of an end user."}}}}}};
}

std::string lower_name(Method method) {
    std::string name(name_of(method));
    for (char& c : name) c = lower(c);
    return name;
}

}  // namespace

std::string write_openapi(const Documented& documented, std::string_view server_url) {
    json::object paths;
    for (const Endpoint* endpoint : documented.endpoints) {
        if (!endpoint->document.typed && endpoint->spec.summary.empty()) continue;
        json::value& path = paths[endpoint->spec.path];
        if (path.is_null()) path.emplace_object();
        path.as_object()[lower_name(endpoint->spec.method)] =
            operation_of(*endpoint, documented.of_credentials);
    }
    const json::object document{
        {"openapi", "3.1.0"},
        {"info", {{"title", "Tenon"}, {"version", "1"}, {"description", about}}},
        {"servers", json::array{json::object{{"url", server_url}}}},
        {"paths", std::move(paths)},
        {"components", components_of(documented.endpoints)}};
    return json::serialize(document);
}

}  // namespace tenon::http
