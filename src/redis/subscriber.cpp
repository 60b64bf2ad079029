#include "redis/subscriber.hpp"

#include <fmt/format.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <exception>
#include <utility>
#include <variant>

#include "base/assert.hpp"
#include "base/backoff.hpp"
#include "redis/pipeline.hpp"
#include "redis/reader.hpp"
#include "redis/session.hpp"
#include "redis/subscription.hpp"
#include "runtime/log.hpp"
#include "runtime/report.hpp"
#include "runtime/task_group.hpp"
#include "runtime/wait.hpp"

namespace tenon::redis {
namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

struct Subscriber::State {
    State(runtime::Core& home, ClientOptions settings, std::vector<std::string> names)
        : core(home),
          options(std::move(settings)),
          channels(std::move(names)),
          backoff({}, home.random()),
          reader(options.limits),
          socket(home.io()),
          tasks(home.io()) {}

    asio::awaitable<void> keep();
    asio::awaitable<void> open();
    asio::awaitable<std::string> subscribe();
    asio::awaitable<std::string> read();
    asio::awaitable<std::string> ask();
    std::string take_replies();
    void take(const Notice& notice);
    void go_down(std::string why);

    runtime::Core& core;
    const ClientOptions options;
    const std::vector<std::string> channels;
    OnMessage on_message;
    std::function<void()> on_lost;
    base::Backoff backoff;
    Reader reader;
    Socket socket;
    Clock::time_point heard;
    std::size_t confirmed = 0;  ///< channels that the present connection listens to
    std::string why_down = "not connected yet";
    bool closing = false;
    runtime::TaskGroup tasks;
};

asio::awaitable<void> Subscriber::State::keep() {
    for (;;) {
        co_await open();
        if (socket.is_open()) go_down(co_await subscribe());
        co_await runtime::pause_for(backoff.next());
    }
}

asio::awaitable<void> Subscriber::State::open() {
    std::exception_ptr failure;
    try {
        Session session = co_await open_session(core.io(), options,
                                                fmt::format("tenon-subscriber-{}", core.index()));
        socket = std::move(session.socket);
        co_return;
    } catch (...) {
        failure = std::current_exception();
    }
    if (runtime::is_cancellation(failure)) std::rethrow_exception(failure);
    why_down = runtime::describe_failure(failure);
}

asio::awaitable<std::string> Subscriber::State::subscribe() {
    using namespace asio::experimental::awaitable_operators;
    reader.reset();
    confirmed = 0;
    heard = Clock::now();
    auto ended = co_await (read() || ask());
    co_return std::visit([](auto& why) { return std::move(why); }, ended);
}

void Subscriber::State::go_down(std::string why) {
    if (closing) why = "it was closed";
    confirmed = 0;
    why_down = why;
    boost::system::error_code ignored;
    socket.close(ignored);
    runtime::log(closing ? runtime::Level::debug : runtime::Level::warning,
                 "lost the subscription to Redis", {{"address", options.address}, {"why", why}});
}

asio::awaitable<std::string> Subscriber::State::read() {
    std::array<char, 4096> bytes{};
    for (;;) {
        boost::system::error_code error;
        const std::size_t size = co_await socket.async_read_some(
            asio::buffer(bytes), asio::redirect_error(asio::use_awaitable, error));
        if (error == asio::error::eof) co_return "the server closed it";
        if (error) co_return error.message();
        heard = Clock::now();
        reader.feed({bytes.data(), size});
        if (std::string why = take_replies(); !why.empty()) co_return why;
    }
}

std::string Subscriber::State::take_replies() {
    while (auto reply = reader.next()) {
        if (reply->type == Reply::Type::error) return reply->text;
        take(read_notice(std::move(*reply)));
    }
    return reader.failure();
}

void Subscriber::State::take(const Notice& notice) {
    if (notice.kind == Notice::Kind::message) on_message(notice.channel, notice.payload);
    if (notice.kind != Notice::Kind::confirmed || ++confirmed != channels.size()) return;
    why_down.clear();
    backoff.reset();
    on_lost();
}

// The one writer: the subscription first, then a PING whenever the line has been silent.
asio::awaitable<std::string> Subscriber::State::ask() {
    std::vector<std::string> words{"SUBSCRIBE"};
    words.insert(words.end(), channels.begin(), channels.end());
    for (;;) {
        std::string bytes;
        append_command(bytes, words);
        const auto asked = Clock::now();
        boost::system::error_code error;
        co_await asio::async_write(socket, asio::buffer(bytes),
                                   asio::redirect_error(asio::use_awaitable, error));
        if (error) co_return error.message();
        co_await runtime::pause_until(asked + options.ping_interval);
        if (heard < asked) {
            co_return fmt::format("not a word for {} ms", options.ping_interval.count());
        }
        while (Clock::now() - heard < options.ping_interval) {
            co_await runtime::pause_until(heard + options.ping_interval);
        }
        words = {"PING"};
    }
}

Subscriber::Subscriber(runtime::Core& core, ClientOptions options,
                       std::vector<std::string> channels, OnMessage on_message,
                       std::function<void()> on_lost)
    : state_(std::make_unique<State>(core, std::move(options), std::move(channels))) {
    TENON_ASSERT(!state_->channels.empty());
    state_->on_message = std::move(on_message);
    state_->on_lost = std::move(on_lost);
    state_->tasks.spawn("redis subscriber", state_->keep());
}

Subscriber::~Subscriber() = default;

bool Subscriber::is_up() const {
    return state_->confirmed == state_->channels.size();
}

std::string Subscriber::why_down() const {
    return state_->why_down;
}

asio::awaitable<void> Subscriber::close(runtime::Call&) {
    State& state = *state_;
    state.closing = true;
    state.tasks.cancel();
    co_await state.tasks.join();
    state.go_down({});
}

}  // namespace tenon::redis
