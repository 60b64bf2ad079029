#include "http/dispatch.hpp"

#include <fmt/format.h>
#include <charconv>
#include <exception>

#include "http/errors.hpp"
#include "http/problem.hpp"
#include "http/record.hpp"
#include "http/text.hpp"
#include "http/trace.hpp"
#include "runtime/failure.hpp"
#include "runtime/log.hpp"
#include "runtime/report.hpp"

namespace tenon::http {

namespace {

using runtime::Call;

// The one place where failures that no caller can act on become answers.
base::Error error_of(const std::exception_ptr& failure) {
    const auto later = [](const base::ErrorType& type, std::string detail,
                          std::chrono::seconds wait) {
        base::Error error(type, std::move(detail));
        error.repeat_after(std::max(wait, std::chrono::seconds(1)));
        return error;
    };
    base::Error internal(errors::internal,
                         "This is a fault of the server; report it with the trace id.");
    try {
        std::rethrow_exception(failure);
    } catch (const runtime::DeadlineExceeded&) {
        return base::Error(errors::deadline_exceeded,
                           "Repeat the request, with more time or the same Idempotency-Key.");
    } catch (const runtime::Unavailable& away) {
        return later(errors::unavailable, "Repeat the request after the time in Retry-After.",
                     away.retry_after());
    } catch (const runtime::Failure& failed) {
        if (failed.advice() == runtime::Advice::later ||
            failed.advice() == runtime::Advice::repeat) {
            return later(errors::unavailable, "Repeat the request after the time in Retry-After.",
                         std::chrono::seconds(1));
        }
        return internal;
    } catch (...) {
        if (runtime::is_cancellation(failure)) {
            return later(errors::unavailable, "The server is being stopped; repeat the request.",
                         std::chrono::seconds(1));
        }
        return internal;
    }
}

/// True for the first refusals of a second on this thread: an engine that is away refuses
/// thousands, which the metrics count and one line tells as well as all.
bool is_worth_a_line() {
    using Seconds = std::chrono::seconds;
    constexpr int lines_per_second = 5;
    thread_local Seconds second{0};
    thread_local int lines = 0;
    const auto now =
        std::chrono::duration_cast<Seconds>(std::chrono::steady_clock::now().time_since_epoch());
    if (now != second) lines = 0;
    second = now;
    return lines++ < lines_per_second;
}

void log_failure(const Exchange& exchange, const base::Error& error,
                 const std::exception_ptr& failure) {
    const bool bug = error.is(errors::internal);
    if (!bug && !is_worth_a_line()) return;
    runtime::log(bug ? runtime::Level::error : runtime::Level::info, exchange.call,
                 "A request failed.",
                 {{"endpoint", exchange.route.endpoint->spec.path},
                  {"method", name_of(exchange.request.method)},
                  {"answer", error.type().slug},
                  {"failure", runtime::describe_failure(failure)}});
}

void answer_failure(Exchange& exchange, const std::exception_ptr& failure) {
    const base::Error error = error_of(failure);
    log_failure(exchange, error, failure);
    exchange.response.clear();
    answer_error(exchange, error);
}

void count(const Route& route, const Response& response,
           std::chrono::steady_clock::time_point began) {
    const auto hundred = static_cast<std::size_t>(response.status() / 100);
    const auto& requests = route.endpoint->metrics.requests;
    if (hundred < requests.size()) requests[hundred].add();
    route.endpoint->metrics.durations.observe(std::chrono::steady_clock::now() - began);
}

void answer_problem_at_once(runtime::Core& core, const Request& request, const base::Error& error,
                            Response& response, const Route& route = {}) {
    const auto began = std::chrono::steady_clock::now();
    Call call = core.make_call({});
    call.client_address = request.remote_address;
    begin_trace(core, request, call.trace);
    render_problem(error, call.trace, response);
    tell_trace(call.trace, response);
    record({core, request, route, response, began}, call);
}

// The page's browser hides the answer from the page; who runs the server finds the reason here.
void log_refused_origin(const Request& request) {
    constexpr std::size_t shown_max = 200;
    if (!is_worth_a_line()) return;
    runtime::log(runtime::Level::info, "A page of an origin that is not allowed called.",
                 {{"origin", request.header("Origin").value_or("").substr(0, shown_max)},
                  {"option", "http.cors_origins"},
                  {"method", name_of(request.method)},
                  {"path", request.path.substr(0, shown_max)}});
}

// "https://a.example:8080" for a server that was asked as "a.example:8080".
bool is_own_origin(const Request& request) {
    const std::string_view origin = request.header("Origin").value_or("");
    const std::size_t scheme = origin.find("://");
    return scheme != std::string_view::npos &&
           equal_without_case(origin.substr(scheme + 3), request.header("Host").value_or(""));
}

std::optional<base::Error> lower_deadline(Exchange& exchange) {
    const auto given = exchange.request.header("Tenon-Timeout");
    if (!given) return std::nullopt;
    const auto timeout = parse_timeout(*given);
    if (!timeout) {
        base::Error error(errors::invalid_header, "Correct the header Tenon-Timeout.");
        error.add_field("Tenon-Timeout", "a number with ms or s, such as 800ms or 2s");
        return error;
    }
    const auto until = std::chrono::steady_clock::now() + *timeout;
    exchange.call.deadline = std::min(exchange.call.deadline, until);
    return std::nullopt;
}

std::optional<base::Error> refuse_encoded_body(Exchange& exchange) {
    const auto coding = exchange.request.header("Content-Encoding");
    if (!coding || exchange.request.body.empty()) return std::nullopt;
    if (equal_without_case(*coding, "identity")) return std::nullopt;
    // What RFC 9110 (section 12.5.3) has for saying which coding would have been taken.
    exchange.response.add_header("Accept-Encoding", "identity");
    return base::Error(errors::content_encoding,
                       "Send the body as it is, without Content-Encoding.");
}

void answer_unauthenticated(Exchange& exchange, std::string_view parameters,
                            const std::string& detail) {
    exchange.response.add_header("WWW-Authenticate",
                                 std::string("Bearer realm=\"tenon\"").append(parameters));
    answer_error(exchange, base::Error(errors::unauthenticated, detail));
}

// What followed "Bearer "; empty when there is no such credential.
std::string_view bearer_of(const Request& request) {
    constexpr std::string_view scheme = "Bearer ";
    std::string_view given = request.header("Authorization").value_or("");
    if (!equal_without_case(given.substr(0, scheme.size()), scheme)) return {};
    given.remove_prefix(scheme.size());
    while (given.starts_with(' ')) given.remove_prefix(1);
    return given;
}

void take_identity(Call& call, Identity identity, runtime::Priority priority) {
    call.project = identity.project;
    call.subject = std::move(identity.subject);
    call.priority = std::min(priority, identity.highest);
}

}  // namespace

bool Dispatcher::answer_at_once(runtime::Core& core, const Request& request, Response& response,
                                Route& route) const {
    route = router_.find(request.method, request.path);
    switch (route.kind) {
        case Route::Kind::endpoint:
            return false;
        case Route::Kind::fallback:
            return fall_back_at_once(core, request, response, route);
        case Route::Kind::options:
            answer_options(core, request, response, route);
            return true;
        case Route::Kind::wrong_method:
            response.add_header("Allow", route.allow);
            answer_problem_at_once(
                core, request,
                base::Error(errors::method_not_allowed,
                            std::string("Use one of ").append(route.allow).append(".")),
                response, route);
            open_to_page(request, response);
            return true;
        case Route::Kind::nowhere:
            break;
    }
    answer_problem_at_once(
        core, request,
        base::Error(errors::no_endpoint, "See /openapi.json for the endpoints there are."),
        response, route);
    open_to_page(request, response);
    return true;
}

void Dispatcher::answer_options(runtime::Core& core, const Request& request, Response& response,
                                const Route& route) const {
    const auto began = std::chrono::steady_clock::now();
    response.set_status(204);
    response.add_header("Allow", route.allow);
    // Short links are there to be followed, not to be read by pages.
    const bool is_short_link = route.endpoint != nullptr;
    std::optional<base::Error> refused;
    if (!is_short_link && CorsPolicy::is_preflight(request)) {
        refused = cors_.answer_preflight(request, route.allow, response);
    }
    if (!refused) return record({core, request, route, response, began});
    log_refused_origin(request);
    answer_problem_at_once(core, request, *refused, response, route);
}

void Dispatcher::open_to_page(const Request& request, Response& response) const {
    if (!cors_.open(request, response) && !is_own_origin(request)) log_refused_origin(request);
}

bool Dispatcher::fall_back_at_once(runtime::Core& core, const Request& request, Response& response,
                                   const Route& route) const {
    const InlineHandler& at_once = router_.fallback_at_once();
    if (!at_once) return false;
    const auto began = std::chrono::steady_clock::now();
    try {
        if (!at_once(core, request, response)) return false;
    } catch (...) {
        Call call = core.make_call({});
        call.client_address = request.remote_address;
        Exchange exchange{call, request, response, route};
        answer_failure(exchange, std::current_exception());
    }
    count(route, response, began);
    record({core, request, route, response, began});
    return true;
}

boost::asio::awaitable<void> Dispatcher::answer(runtime::Core& core, const Request& request,
                                                Response& response, const Route& route) const {
    const auto began = std::chrono::steady_clock::now();
    Call call = core.make_call(request_timeout_);
    call.priority = route.endpoint->spec.priority;
    call.client_address = request.remote_address;
    begin_trace(core, request, call.trace);
    Exchange exchange{call, request, response, route};
    std::exception_ptr failure;
    try {
        co_await run(exchange);
    } catch (...) {
        failure = std::current_exception();
    }
    if (failure) answer_failure(exchange, failure);
    tell_trace(call.trace, response);
    if (route.kind == Route::Kind::endpoint) open_to_page(request, response);
    count(route, response, began);
    record({core, request, route, response, began}, call);
}

boost::asio::awaitable<void> Dispatcher::run(Exchange& exchange) const {
    // Counts for the look-up of the key, too; but who calls without one is told only that.
    const auto refused_timeout = lower_deadline(exchange);
    if (!exchange.route.endpoint->spec.scope.empty() && !co_await admit(exchange)) co_return;
    if (refused_timeout) co_return answer_error(exchange, *refused_timeout);
    if (const auto refused = refuse_encoded_body(exchange)) {
        co_return answer_error(exchange, *refused);
    }
    co_await exchange.route.endpoint->run(exchange);
}

boost::asio::awaitable<bool> Dispatcher::admit(Exchange& exchange) const {
    const Spec& spec = exchange.route.endpoint->spec;
    const std::string_view bearer = bearer_of(exchange.request);
    if (bearer.empty()) {
        answer_unauthenticated(exchange, "", "Send the header Authorization: Bearer KEY.");
        co_return false;
    }
    base::Result<Identity> identity = co_await authenticator_.identify(exchange.call, bearer);
    if (!identity) {
        if (status_of(identity.error().type()) == 401) {
            exchange.response.add_header("WWW-Authenticate",
                                         "Bearer realm=\"tenon\", error=\"invalid_token\"");
        }
        answer_error(exchange, identity.error());
        co_return false;
    }
    if (!identity->may(spec.scope)) {
        exchange.response.add_header(
            "WWW-Authenticate",
            fmt::format("Bearer realm=\"tenon\", error=\"insufficient_scope\", scope=\"{}\"",
                        spec.scope));
        answer_error(exchange,
                     base::Error(errors::scope_missing,
                                 fmt::format("Use a key with the scope {}.", spec.scope)));
        co_return false;
    }
    take_identity(exchange.call, std::move(*identity), spec.priority);
    co_return true;
}

void answer_refusal(runtime::Core& core, const Refusal& refusal, Response& response) {
    std::string detail(refusal.detail);
    if (refusal.limit > 0) detail += fmt::format(": at most {} {}.", refusal.limit, refusal.unit);
    base::Error error(*refusal.type, std::move(detail));
    if (refusal.repeat_after.count() > 0) error.repeat_after(refusal.repeat_after);
    answer_problem_at_once(core, Request{}, error, response);
}

std::optional<std::chrono::milliseconds> parse_timeout(std::string_view text) {
    std::uint32_t number = 0;
    if (text.starts_with('0')) return std::nullopt;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, number);
    if (read.ec != std::errc{} || number > 999'999'999) return std::nullopt;
    const std::string_view unit(read.ptr, static_cast<std::size_t>(end - read.ptr));
    if (unit == "ms") return std::chrono::milliseconds(number);
    if (unit == "s") return std::chrono::seconds(number);
    return std::nullopt;
}

}  // namespace tenon::http
