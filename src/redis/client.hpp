// Redis for one core and one node: every caller's commands share one pipelined connection.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/call.hpp"
#include "runtime/core.hpp"
#include "runtime/failure.hpp"

namespace tenon::redis {

struct ClientOptions {
    std::string address;                              ///< "unix:/path" or "host:port"
    std::string username;                             ///< empty: none
    std::string password;                             ///< empty: none
    std::chrono::milliseconds connect_timeout{1'000};
    std::chrono::milliseconds command_timeout{20};    ///< hot state is worth little when late
    std::size_t in_flight_max = 16'384;               ///< one more is Unavailable at once
};

/// One reply, RESP2.
struct Reply {
    enum class Type { nil, status, integer, text, array, error };
    Type type = Type::nil;
    std::int64_t integer = 0;
    std::string text;          ///< status, text or error message
    std::vector<Reply> items;  ///< array
};

/// A Lua script; its SHA-1 digest is computed once. Static lifetime.
class Script {
public:
    explicit Script(std::string_view source);
    [[nodiscard]] std::string_view source() const { return source_; }
    [[nodiscard]] const std::string& digest() const { return digest_; }

private:
    std::string_view source_;
    std::string digest_;
};

/// The server answered with an error.
class CommandFailed final : public runtime::Failure {
public:
    explicit CommandFailed(const std::string& message)
        : Failure(message, runtime::Advice::give_up) {}
};

/// A pipelined connection that reconnects with backoff.
///
/// Shape:   the first key of a command (or script) is named, so that cluster slots can come without
///          changing callers.
/// Threads: its core only.
/// Errors:  CommandFailed; Unavailable (away, full); DeadlineExceeded after command_timeout or the
///          call's deadline (the reply is dropped when it comes). A command whose connection was
///          lost after sending is never sent again by the client.
class Client {
public:
    Client(runtime::Core& core, ClientOptions options);
    ~Client();

    /// `arguments` includes the command's name; `key` routes (empty: any node).
    boost::asio::awaitable<Reply> command(runtime::Call& call, std::string_view key,
                                          std::vector<std::string> arguments);
    /// EVALSHA, and on NOSCRIPT once more by EVAL.
    boost::asio::awaitable<Reply> run(runtime::Call& call, const Script& script,
                                      std::vector<std::string> keys,
                                      std::vector<std::string> arguments);
    [[nodiscard]] bool is_up() const;
    [[nodiscard]] std::string why_down() const;
    boost::asio::awaitable<void> close(runtime::Call& call);

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Messages of channels, on a connection of its own.
///
/// on_lost is called whenever messages may have been missed (at every reconnect, after the
/// subscription is back): what relies on them must then assume the worst.
class Subscriber {
public:
    using OnMessage = std::function<void(std::string_view channel, std::string_view payload)>;
    Subscriber(runtime::Core& core, ClientOptions options, std::vector<std::string> channels,
               OnMessage on_message, std::function<void()> on_lost);
    ~Subscriber();
    boost::asio::awaitable<void> close(runtime::Call& call);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace tenon::redis
