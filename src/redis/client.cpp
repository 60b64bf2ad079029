#include "redis/client.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <utility>

#include "redis/connection.hpp"
#include "runtime/span.hpp"

namespace tenon::redis {
namespace asio = boost::asio;
namespace {

/// The first word of an error reply is its code.
bool has_code(const Reply& reply, std::string_view code) {
    const std::string_view text = reply.text;
    return reply.type == Reply::Type::error && text.starts_with(code) &&
           (text.size() == code.size() || text[code.size()] == ' ');
}

std::vector<std::string> script_words(const Script& script, std::vector<std::string> keys,
                                      std::vector<std::string> arguments) {
    std::vector<std::string> words{"EVALSHA", script.digest(), std::to_string(keys.size())};
    words.reserve(words.size() + keys.size() + arguments.size());
    std::ranges::move(keys, std::back_inserter(words));
    std::ranges::move(arguments, std::back_inserter(words));
    return words;
}

// The command's name; its arguments are nobody's business.
runtime::Span begin_span(const runtime::Call& call, std::string_view command) {
    runtime::Span span(call, runtime::SpanKind::client, command);
    span.set("db.system.name", "redis");
    span.set("db.operation.name", command);
    return span;
}

// Ends with the frame, whether a reply came or not.
asio::awaitable<Reply> request(Connection& connection, runtime::Deadline deadline,
                               std::vector<std::string> words, runtime::Span span) {
    try {
        co_return checked(co_await connection.request(deadline, words));
    } catch (...) {
        span.fail(std::current_exception());
        throw;
    }
}

// A server that lost its scripts (restart, failover, SCRIPT FLUSH) has not run the first command,
// so sending the source is no repeat. Each caller in the pipeline does so for itself.
asio::awaitable<Reply> request_script(Connection& connection, runtime::Deadline deadline,
                                      const Script& script, std::vector<std::string> words,
                                      runtime::Span span) {
    try {
        Reply reply = co_await connection.request(deadline, words);
        if (has_code(reply, "NOSCRIPT")) {
            words[0] = "EVAL";
            words[1] = script.source();
            reply = co_await connection.request(deadline, words);
        }
        co_return checked(std::move(reply));
    } catch (...) {
        span.fail(std::current_exception());
        throw;
    }
}

}  // namespace

Reply checked(Reply reply) {
    if (reply.type != Reply::Type::error) return reply;
    constexpr std::array<std::string_view, 5> passing{"LOADING", "BUSY", "MASTERDOWN",
                                                      "CLUSTERDOWN", "TRYAGAIN"};
    const bool passes =
        std::ranges::any_of(passing, [&reply](auto code) { return has_code(reply, code); });
    if (passes) throw runtime::Unavailable("Redis says: " + reply.text, std::chrono::seconds(1));
    throw CommandFailed(reply.text);
}

struct Client::State {
    State(runtime::Core& core, ClientOptions settings)
        : options(std::move(settings)), connection(core, options) {}

    /// The connection to the node that has `key`; with one node, the only one.
    Connection& route(std::string_view) { return connection; }
    [[nodiscard]] runtime::Deadline deadline_of(const runtime::Call& call) const {
        return std::min(call.deadline, std::chrono::steady_clock::now() + options.command_timeout);
    }

    const ClientOptions options;
    Connection connection;
};

Client::Client(runtime::Core& core, ClientOptions options)
    : state_(std::make_unique<State>(core, std::move(options))) {}

Client::~Client() = default;

asio::awaitable<Reply> Client::command(runtime::Call& call, std::string_view key,
                                       std::vector<std::string> arguments) {
    auto span = begin_span(call, arguments.front());
    return request(state_->route(key), state_->deadline_of(call), std::move(arguments),
                   std::move(span));
}

asio::awaitable<Reply> Client::run(runtime::Call& call, const Script& script,
                                   std::vector<std::string> keys,
                                   std::vector<std::string> arguments) {
    Connection& connection = state_->route(keys.empty() ? std::string_view() : keys.front());
    return request_script(connection, state_->deadline_of(call), script,
                          script_words(script, std::move(keys), std::move(arguments)),
                          begin_span(call, "EVALSHA"));
}

bool Client::is_up() const {
    return state_->connection.is_up();
}

std::string Client::why_down() const {
    return state_->connection.why_down();
}

asio::awaitable<void> Client::wait_up(runtime::Call& call) {
    return state_->connection.wait_up(call.deadline);
}

asio::awaitable<void> Client::close(runtime::Call& call) {
    return state_->connection.close(call.deadline);
}

}  // namespace tenon::redis
