#include "http/typed.hpp"

#include <algorithm>

#include "base/hash.hpp"
#include "http/errors.hpp"
#include "http/problem.hpp"
#include "http/text.hpp"

namespace tenon::http {

void answer_error(Exchange& exchange, const base::Error& error) {
    render_problem(error, exchange.call.trace, exchange.response);
}

namespace detail {

namespace {

constexpr std::size_t key_length_max = 255;

bool is_key(std::string_view key) {
    return !key.empty() && key.size() <= key_length_max &&
           std::ranges::all_of(key, [](char c) { return c > ' ' && c < 0x7F; });
}

// Lengths first, so that no two requests have the same text.
void append_part(std::string& text, std::string_view part) {
    text.append(std::to_string(part.size())).append(":").append(part);
}

base::Digest fingerprint_of(const Exchange& exchange, std::string_view canonical_body) {
    std::string text;
    append_part(text, name_of(exchange.request.method));
    append_part(text, exchange.request.path);
    append_part(text, exchange.call.subject);
    append_part(text, canonical_body);
    return base::sha256(text);
}

}  // namespace

std::optional<base::Error> check_media_type(const Request& request) {
    const std::string_view given = request.header("Content-Type").value_or("");
    std::string_view essence = given.substr(0, given.find(';'));
    while (essence.ends_with(' ') || essence.ends_with('\t')) essence.remove_suffix(1);
    if (equal_without_case(essence, "application/json")) return std::nullopt;
    return base::Error(errors::media_type,
                       "Send JSON with the header Content-Type: application/json.");
}

std::optional<base::Error> set_claim(Exchange& exchange) {
    if (!exchange.route.endpoint->spec.idempotent_by_key) return std::nullopt;
    const auto key = exchange.request.header("Idempotency-Key");
    if (!key) return std::nullopt;
    if (!is_key(*key)) {
        base::Error error(errors::invalid_header, "Send another Idempotency-Key.");
        error.add_field("Idempotency-Key", "1 to 255 printable ASCII characters, no space");
        return error;
    }
    std::string canonical;
    if (!exchange.request.body.empty() && !exchange.route.endpoint->document.body.empty()) {
        auto text = runtime::canonical_json(exchange.request.body);
        if (!text) return std::move(text.error());
        canonical = std::move(*text);
    }
    exchange.call.claim = runtime::Claim{.key = std::string(*key),
                                         .fingerprint = fingerprint_of(exchange, canonical)};
    return std::nullopt;
}

void answer_json(Exchange& exchange, std::string_view json) {
    exchange.response.set_status(exchange.route.endpoint->spec.success);
    if (exchange.call.claim && exchange.call.claim->replayed) {
        exchange.response.add_header("Idempotency-Replayed", "true");
    }
    exchange.response.set_body("application/json", json);
}

void answer_nothing(Exchange& exchange) {
    exchange.response.set_status(204);
    if (exchange.call.claim && exchange.call.claim->replayed) {
        exchange.response.add_header("Idempotency-Replayed", "true");
    }
}

}  // namespace detail

}  // namespace tenon::http
