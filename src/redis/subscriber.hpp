// Messages of channels, on a connection of its own.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "redis/options.hpp"
#include "runtime/call.hpp"
#include "runtime/core.hpp"

namespace tenon::redis {

/// Messages of channels, on a connection of its own.
///
/// on_lost is called whenever messages may have been missed: every time that the subscription
/// stands, the first one included, since nothing was heard before. What relies on messages must
/// then assume the worst. While is_up() is false nothing is heard.
///
/// Shape:   a silent connection is asked PING every ping_interval and left after another one
///          without an answer.
/// Expects: `channels` is not empty; neither function throws, awaits or destroys this. close() was
///          awaited before it is destroyed.
/// Threads: its core only; both functions run there.
class Subscriber {
public:
    using OnMessage = std::function<void(std::string_view channel, std::string_view payload)>;
    Subscriber(runtime::Core& core, ClientOptions options, std::vector<std::string> channels,
               OnMessage on_message, std::function<void()> on_lost);
    ~Subscriber();
    Subscriber(const Subscriber&) = delete;
    Subscriber& operator=(const Subscriber&) = delete;

    [[nodiscard]] bool is_up() const;
    /// Empty while it is up.
    [[nodiscard]] std::string why_down() const;
    boost::asio::awaitable<void> close(runtime::Call& call);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace tenon::redis
