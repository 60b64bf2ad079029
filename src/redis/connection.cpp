#include "redis/connection.hpp"

#include <fmt/format.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <exception>
#include <utility>
#include <variant>

#include "runtime/failure.hpp"
#include "runtime/log.hpp"
#include "runtime/metrics.hpp"
#include "runtime/report.hpp"

namespace tenon::redis {
namespace asio = boost::asio;
namespace {

constexpr std::size_t read_bytes = 64 << 10;

runtime::Counter count(std::string_view name, std::string_view help) {
    return runtime::metrics().counter({.name = name, .help = help});
}

}  // namespace

/// A caller that waits, in its own coroutine's frame.
class Connection::Request final : public Receiver {
public:
    Request(Connection& connection, runtime::Deadline deadline)
        : connection_(connection), waiter_(deadline) {}
    ~Request() override {
        if (!done_) connection_.pipeline_.abandon(number_);
    }
    Request(const Request&) = delete;
    Request& operator=(const Request&) = delete;

    void push(std::span<const std::string> words) {
        number_ = connection_.pipeline_.push(words, *this, std::chrono::steady_clock::now());
    }
    auto suspend() { return connection_.requests_.suspend(waiter_); }

    void receive(Reply reply) override {
        reply_ = std::move(reply);
        end();
    }
    void lose(const Lost& lost) override {
        lost_ = fmt::format("lost the connection to Redis: {}", lost.why);
        advice_ = lost.sent ? runtime::Advice::give_up : runtime::Advice::repeat;
        end();
    }

    /// A reply that came in the last moment counts, also when the waiter was woken for another
    /// reason before.
    Reply take(runtime::Wake wake) {
        if (!done_ || wake == runtime::Wake::cancelled) {
            if (wake == runtime::Wake::expired) connection_.late_.add();
            runtime::expect_ready(wake, "Redis");
        }
        if (!lost_.empty()) throw runtime::Unavailable(lost_, std::chrono::seconds(1), advice_);
        return std::move(reply_);
    }

private:
    void end() {
        done_ = true;
        connection_.requests_.wake(waiter_);
    }

    Connection& connection_;
    runtime::Waiter waiter_;
    std::uint64_t number_ = 0;
    bool done_ = false;
    Reply reply_;
    std::string lost_;
    runtime::Advice advice_ = runtime::Advice::give_up;
};

Connection::Connection(runtime::Core& core, ClientOptions options)
    : core_(core),
      options_(std::move(options)),
      backoff_({.longest = std::chrono::milliseconds(1'000)}, core.random()),
      commands_(count("tenon_redis_commands_total", "Commands sent to Redis.")),
      late_(count("tenon_redis_late_total", "Commands whose callers left before the reply came.")),
      connections_(count("tenon_redis_connections_total", "Connections made to Redis.")),
      pipeline_(options_.limits),
      socket_(core.io()),
      up_(core.io()),
      output_(core.io()),
      drained_(core.io()),
      requests_(core.io()),
      tasks_(core.io()) {
    tasks_.spawn("redis connection", keep());
}

void Connection::expect_room() const {
    if (!is_up() || closing_) {
        throw runtime::Unavailable(fmt::format("Redis is away: {}", why_down_),
                                   std::chrono::seconds(1));
    }
    if (pipeline_.in_flight() >= options_.in_flight_max ||
        pipeline_.unsent_bytes() > options_.unsent_bytes_max) {
        throw runtime::Unavailable("too many commands wait for Redis", std::chrono::seconds(1));
    }
}

asio::awaitable<Reply> Connection::request(runtime::Deadline deadline,
                                           std::span<const std::string> words) {
    expect_room();
    Request request(*this, deadline);
    request.push(words);
    commands_.add();
    output_.set();
    const runtime::Wake wake = co_await request.suspend();
    co_return request.take(wake);
}

asio::awaitable<void> Connection::keep() {
    for (;;) {
        co_await open();
        if (is_up()) go_down(co_await serve());
        co_await runtime::pause_for(backoff_.next());
    }
}

asio::awaitable<void> Connection::open() {
    std::exception_ptr failure;
    try {
        go_up(co_await open_session(core_.io(), options_,
                                    fmt::format("tenon-core-{}", core_.index())));
        co_return;
    } catch (...) {
        failure = std::current_exception();
    }
    if (runtime::is_cancellation(failure)) std::rethrow_exception(failure);
    why_down_ = runtime::describe_failure(failure);
}

void Connection::go_up(Session session) {
    socket_ = std::move(session.socket);
    client_id_ = session.client_id;
    ++generation_;
    connections_.add();
    backoff_.reset();
    why_down_.clear();
    output_.reset();
    up_.set();
    runtime::log(runtime::Level::info, "connected to Redis",
                 {{"address", options_.address}, {"generation", generation_}});
}

void Connection::go_down(std::string why) {
    if (closing_) why = "it was closed";
    up_.reset();
    why_down_ = why;
    client_id_ = 0;
    boost::system::error_code ignored;
    socket_.close(ignored);
    runtime::log(
        closing_ ? runtime::Level::debug : runtime::Level::warning, "lost the connection to Redis",
        {{"address", options_.address}, {"why", why}, {"commands_lost", pipeline_.in_flight()}});
    pipeline_.lose_all(why);
    drained_.set();
}

// Each of the three returns why the connection is of no more use; the first ends the others.
asio::awaitable<std::string> Connection::serve() {
    using namespace asio::experimental::awaitable_operators;
    auto ended = co_await (read() || write() || watch());
    co_return std::visit([](auto& why) { return std::move(why); }, ended);
}

asio::awaitable<std::string> Connection::read() {
    std::vector<char> bytes(read_bytes);
    for (;;) {
        boost::system::error_code error;
        const std::size_t size = co_await socket_.async_read_some(
            asio::buffer(bytes), asio::redirect_error(asio::use_awaitable, error));
        if (error == asio::error::eof) co_return "the server closed it";
        if (error) co_return error.message();
        if (!pipeline_.receive({bytes.data(), size})) co_return pipeline_.failure();
        if (pipeline_.in_flight() == 0) drained_.set();
    }
}

asio::awaitable<std::string> Connection::write() {
    std::string bytes;
    for (;;) {
        co_await output_.wait();
        output_.reset();
        while (pipeline_.has_output()) {
            pipeline_.take_output(bytes);
            boost::system::error_code error;
            co_await asio::async_write(socket_, asio::buffer(bytes),
                                       asio::redirect_error(asio::use_awaitable, error));
            if (error) co_return error.message();
        }
    }
}

asio::awaitable<std::string> Connection::watch() {
    const auto patience = options_.command_timeout * options_.overdue_timeouts;
    for (;;) {
        const auto now = std::chrono::steady_clock::now();
        const auto since = pipeline_.oldest().value_or(now);
        if (now - since >= patience) {
            co_return fmt::format("no reply for {} ms", patience.count());
        }
        co_await runtime::pause_until(since + patience);
    }
}

asio::awaitable<void> Connection::close(runtime::Deadline deadline) {
    closing_ = true;
    why_down_ = "it was closed";
    if (is_up() && pipeline_.in_flight() > 0) {
        drained_.reset();
        try {
            co_await drained_.wait(deadline);
        } catch (const runtime::DeadlineExceeded&) {
            runtime::log(runtime::Level::warning, "closed Redis before all replies had come",
                         {{"commands", pipeline_.in_flight()}});
        }
    }
    tasks_.cancel();
    co_await tasks_.join();
    if (is_up()) go_down({});
}

}  // namespace tenon::redis
