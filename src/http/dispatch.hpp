// From a request to its response: who asks, whether they may, until when, and what became of it.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <optional>
#include <string_view>

#include "http/cors.hpp"
#include "http/endpoint.hpp"
#include "http/head.hpp"
#include "http/identity.hpp"
#include "http/server.hpp"
#include "runtime/core.hpp"

namespace tenon::http {

/// Answers requests by the router.
///
/// Owns:    nothing; router and authenticator outlive it.
/// Threads: any, each with its own core's requests.
class Dispatcher {
public:
    Dispatcher(const Router& router, Authenticator& authenticator, const ServerOptions& options)
        : router_(router),
          authenticator_(authenticator),
          request_timeout_(options.request_timeout),
          cors_(options.cors_origins) {}

    /// Fills `response` if that needs no waiting: redirects that are at hand, 404, 405, OPTIONS.
    /// False: answer() must run, with the route that is left in `route`.
    ///
    /// Cost: no allocation on the way of a redirect.
    [[nodiscard]] bool answer_at_once(runtime::Core& core, const Request& request,
                                      Response& response, Route& route) const;

    /// Fills `response` by an endpoint. Whatever a handler throws ends here.
    ///
    /// Expects: what it refers to stays as it is until the coroutine has ended.
    boost::asio::awaitable<void> answer(runtime::Core& core, const Request& request,
                                        Response& response, const Route& route) const;

private:
    bool fall_back_at_once(runtime::Core& core, const Request& request, Response& response,
                           const Route& route) const;
    void answer_options(runtime::Core& core, const Request& request, Response& response,
                        const Route& route) const;
    void open_to_page(const Request& request, Response& response) const;
    boost::asio::awaitable<void> run(Exchange& exchange) const;
    boost::asio::awaitable<bool> admit(Exchange& exchange) const;

    const Router& router_;
    Authenticator& authenticator_;
    std::chrono::milliseconds request_timeout_;
    CorsPolicy cors_;
};

/// Fills `response` with the problem of a refused request.
void answer_refusal(runtime::Core& core, const Refusal& refusal, Response& response);

/// "800ms" or "2s", 1 to 9 digits that begin with none of 0; nullopt for anything else.
[[nodiscard]] std::optional<std::chrono::milliseconds> parse_timeout(std::string_view text);

}  // namespace tenon::http
