// Redis for one core and one node: every caller's commands share one pipelined connection.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "redis/options.hpp"
#include "redis/reply.hpp"
#include "redis/script.hpp"
#include "redis/subscriber.hpp"
#include "runtime/call.hpp"
#include "runtime/core.hpp"
#include "runtime/failure.hpp"

namespace tenon::redis {

/// The server answered with an error.
class CommandFailed final : public runtime::Failure {
public:
    explicit CommandFailed(const std::string& message)
        : Failure(message, runtime::Advice::give_up) {}
};

/// Gives the reply, or throws what an error reply means.
///
/// Errors: Unavailable where the server says that it cannot serve now (LOADING, BUSY, MASTERDOWN,
///         CLUSTERDOWN, TRYAGAIN); else CommandFailed.
[[nodiscard]] Reply checked(Reply reply);

/// A pipelined connection that reconnects with backoff.
///
/// Shape:   the first key of a command (or script) is named, so that cluster slots can come without
///          changing callers. Commands that block the connection or change its state (BLPOP, MULTI,
///          WATCH, SELECT, SUBSCRIBE) are not for it: others share it.
/// Expects: close() was awaited before it is destroyed.
/// Threads: its core only.
/// Errors:  CommandFailed; Unavailable (away, full); DeadlineExceeded after command_timeout or the
///          call's deadline (the reply is dropped when it comes). A command whose connection was
///          lost after sending is never sent again by the client.
class Client {
public:
    Client(runtime::Core& core, ClientOptions options);
    ~Client();
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    /// `arguments` includes the command's name; `key` routes (empty: any node) and is used before
    /// the first suspension only.
    boost::asio::awaitable<Reply> command(runtime::Call& call, std::string_view key,
                                          std::vector<std::string> arguments);
    /// EVALSHA, and on NOSCRIPT once more by EVAL, both within one command_timeout. Expects:
    /// `script` outlives the await.
    boost::asio::awaitable<Reply> run(runtime::Call& call, const Script& script,
                                      std::vector<std::string> keys,
                                      std::vector<std::string> arguments);
    [[nodiscard]] bool is_up() const;
    /// Empty while it is up.
    [[nodiscard]] std::string why_down() const;
    /// Returns once it is up. Errors: DeadlineExceeded by the call's deadline.
    boost::asio::awaitable<void> wait_up(runtime::Call& call);
    /// Refuses new commands, waits for replies until the call's deadline, then ends.
    boost::asio::awaitable<void> close(runtime::Call& call);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace tenon::redis
