#include "http/openapi.hpp"

#include <boost/json/serialize.hpp>
#include <map>
#include <set>

#include "http/errors.hpp"
#include "http/problem.hpp"
#include "http/response_text.hpp"
#include "http/schema.hpp"
#include "http/text.hpp"

namespace tenon::http {

namespace json = boost::json;

namespace {

using ErrorTypes = std::vector<const base::ErrorType*>;

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

// Every error that an endpoint may answer with, its own first.
ErrorTypes errors_of(const Endpoint& endpoint) {
    ErrorTypes all = endpoint.spec.errors;
    if (!endpoint.spec.scope.empty()) {
        all.insert(all.end(), {&errors::unauthenticated, &errors::scope_missing});
    }
    if (endpoint.document.typed) {
        all.insert(all.end(), {&errors::invalid_parameters, &errors::invalid_header});
    }
    if (!endpoint.document.body.empty()) {
        all.insert(all.end(), {&errors::invalid_body, &errors::media_type,
                               &errors::content_encoding, &errors::body_too_large});
    }
    all.insert(all.end(), {&errors::internal, &errors::unavailable, &errors::deadline_exceeded});
    return all;
}

json::object problem_response(int status, const std::set<std::string>& types) {
    json::array known;
    for (const std::string& type : types) known.emplace_back(type);
    const json::object narrowed{{"properties", {{"type", {{"enum", std::move(known)}}}}}};
    json::array all{json::object{{"$ref", "#/components/schemas/Problem"}}, narrowed};
    return {{"description", reason_of(status)},
            {"content", {{"application/problem+json", {{"schema", {{"allOf", std::move(all)}}}}}}}};
}

json::object success_response(const Endpoint& endpoint) {
    json::object response{{"description", "Done."}};
    if (!endpoint.document.answer.empty()) {
        response["content"] = {{"application/json", {{"schema", endpoint.document.answer}}}};
    }
    return response;
}

json::object responses_of(const Endpoint& endpoint) {
    const bool empty = endpoint.document.typed && endpoint.document.answer.empty();
    const int success = empty ? 204 : endpoint.spec.success;
    std::map<int, std::set<std::string>> problems;
    for (const base::ErrorType* type : errors_of(endpoint)) {
        problems[status_of(*type)].insert(std::string(problem_base).append(type->slug));
    }
    json::object responses;
    responses[std::to_string(success)] = success_response(endpoint);
    for (const auto& [status, types] : problems) {
        responses[std::to_string(status)] = problem_response(status, types);
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

// "get /v1/links/{code}" as "get_v1_links_code".
std::string operation_id(const Spec& spec) {
    std::string id;
    for (const char c : name_of(spec.method)) id.push_back(lower(c));
    for (const char c : spec.path) {
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

json::object operation_of(const Endpoint& endpoint) {
    const Spec& spec = endpoint.spec;
    json::object operation{{"operationId", operation_id(spec)}, {"summary", spec.summary}};
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
    operation["responses"] = responses_of(endpoint);
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
                                           "^[0-9]{1,9}(ms|s)$")}}},
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

std::string write_openapi(const std::vector<const Endpoint*>& endpoints,
                          std::string_view server_url) {
    json::object paths;
    for (const Endpoint* endpoint : endpoints) {
        if (!endpoint->document.typed && endpoint->spec.summary.empty()) continue;
        json::value& path = paths[endpoint->spec.path];
        if (path.is_null()) path.emplace_object();
        path.as_object()[lower_name(endpoint->spec.method)] = operation_of(*endpoint);
    }
    const json::object document{{"openapi", "3.1.0"},
                                {"info", {{"title", "Tenon"}, {"version", "1"}}},
                                {"servers", json::array{json::object{{"url", server_url}}}},
                                {"paths", std::move(paths)},
                                {"components", components_of(endpoints)}};
    return json::serialize(document);
}

}  // namespace tenon::http
