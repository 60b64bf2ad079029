#include "postgres/exclusives.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "postgres/failure.hpp"
#include "runtime/failure.hpp"
#include "runtime/log.hpp"

namespace tenon::postgres {

namespace asio = boost::asio;

namespace {

// How long a connection may take to give up its transaction before it is closed instead.
constexpr std::chrono::seconds rollback_grace{1};
constexpr std::chrono::seconds cancel_grace{2};

/// Counts an open connection back unless it came to be.
class Opening {
public:
    explicit Opening(std::size_t& open) : open_(&open) { ++open; }
    Opening(const Opening&) = delete;
    Opening& operator=(const Opening&) = delete;
    ~Opening() {
        if (open_) --*open_;
    }
    void succeeded() { open_ = nullptr; }

private:
    std::size_t* open_;
};

}  // namespace

Exclusives::Exclusives(runtime::Core& core, const Startup& startup, Statements& statements,
                       runtime::WaitList& callers, runtime::TaskGroup& tasks, Bounds bounds)
    : core_(core),
      startup_(startup),
      statements_(statements),
      callers_(callers),
      tasks_(tasks),
      bounds_(bounds),
      all_back_(core.io()) {}

asio::awaitable<std::shared_ptr<Connection>> Exclusives::acquire(runtime::Call& call) {
    for (;;) {
        if (call.expired()) {
            // Called too late to use the free place: it is the next one's.
            if (open_ < bounds_.connections_max) call_next(nullptr);
            throw runtime::DeadlineExceeded("no connection for a transaction became free in time");
        }
        if (auto connection = take_idle()) co_return connection;
        if (open_ < bounds_.connections_max) co_return co_await open(call);
        if (auto connection = co_await wait_in_line(call)) co_return connection;
    }
}

void Exclusives::release(std::shared_ptr<Connection> connection) {
    if (connection->lose_if_replaced()) return;  // hold() counts it
    if (!waiters_.empty()) return call_next(std::move(connection));
    idle_.push_back(std::move(connection));
    note_returned();
}

void Exclusives::recover(std::shared_ptr<Connection> connection) {
    if (connection->is_lost()) return;
    tasks_.spawn("postgres rollback", roll_back(std::move(connection)));
}

void Exclusives::interrupt(std::shared_ptr<Connection> connection,
                           std::shared_ptr<Exchange> running, bool cancel) {
    if (connection->is_lost()) return;
    tasks_.spawn("postgres cancel",
                 end_statement(std::move(connection), std::move(running), cancel));
}

asio::awaitable<void> Exclusives::returned(runtime::Deadline deadline) {
    while (lent() > 0) {
        all_back_.reset();
        co_await all_back_.wait(deadline);
    }
}

void Exclusives::stop() {
    if (own_blocking_) own_blocking_->stop();
}

asio::awaitable<std::shared_ptr<Connection>> Exclusives::open(runtime::Call& call) {
    Opening opening(open_);
    const auto deadline =
        std::min(call.deadline, std::chrono::steady_clock::now() + bounds_.connect_timeout);
    std::shared_ptr<Connection> connection;
    try {
        Link link = co_await Link::open(core_.io(), startup_, deadline);
        connection = std::make_shared<Connection>(core_.io(), std::move(link), statements_,
                                                  startup_.patience());
    } catch (...) {
        call_next(nullptr);  // this place is free for the next in line
        throw;
    }
    opening.succeeded();
    tasks_.spawn("postgres transaction connection", hold(connection));
    co_return connection;
}

asio::awaitable<std::shared_ptr<Connection>> Exclusives::wait_in_line(runtime::Call& call) {
    if (waiters_.size() >= bounds_.waiting_max) {
        throw runtime::Unavailable("too many wait for a transaction of PostgreSQL",
                                   std::chrono::seconds(1));
    }
    const auto waiter = std::make_shared<Waiter>(core_.io());
    waiters_.push_back(waiter);
    waiter->woken.expires_at(call.deadline);
    boost::system::error_code woken;
    co_await waiter->woken.async_wait(asio::redirect_error(asio::use_awaitable, woken));
    if (waiter->called) co_return std::move(waiter->connection);
    std::erase(waiters_, waiter);
    if (woken) throw boost::system::system_error(woken);
    throw runtime::DeadlineExceeded("no connection for a transaction became free in time");
}

asio::awaitable<void> Exclusives::hold(std::shared_ptr<Connection> connection) {
    try {
        co_await connection->run();
    } catch (const boost::system::system_error& cancelled) {
        // The count must be right all the same, since close() waits for it.
        runtime::log(runtime::Level::debug, "an exclusive connection was let go",
                     {{"reason", cancelled.what()}});
    }
    std::erase(idle_, connection);
    --open_;
    note_returned();
    call_next(nullptr);
}

asio::awaitable<void> Exclusives::roll_back(std::shared_ptr<Connection> connection) {
    std::vector<Query> queries(1, Query{{"ROLLBACK"}, {}, false});
    const auto exchange =
        std::make_shared<Exchange>(callers_, std::move(queries), Exchange::Rules{false, true});
    connection->submit(exchange);
    try {
        co_await exchange->results(std::chrono::steady_clock::now() + rollback_grace);
    } catch (const runtime::Failure& failure) {
        connection->lose(failure.what());
    }
    release(std::move(connection));
}

asio::awaitable<void> Exclusives::end_statement(std::shared_ptr<Connection> connection,
                                                std::shared_ptr<Exchange> running, bool cancel) {
    runtime::Call call = core_.make_call(cancel_grace);
    bool clean = !cancel;
    try {
        if (cancel) co_await send_cancel(*connection, call);
        (void)co_await running->results(call.deadline);
    } catch (const QueryFailed& failed) {
        clean = clean || failed.is("57014");
    } catch (const runtime::Failure& failure) {
        connection->lose(failure.what());
    }
    // A cancel request that did not end the statement may still be under way, and would hit the
    // next one on this backend.
    if (!clean) connection->lose("a cancelled transaction did not end as asked");
    co_await roll_back(std::move(connection));
}

asio::awaitable<void> Exclusives::send_cancel(Connection& connection, runtime::Call& call) {
    const std::shared_ptr<PGcancel> request = connection.cancel_request();
    const std::string refused = co_await blocking().run<std::string>(call, [request] {
        std::array<char, 256> why{};
        const bool sent = PQcancel(request.get(), why.data(), static_cast<int>(why.size())) == 1;
        return sent ? std::string() : std::string(why.data());
    });
    if (!refused.empty()) throw runtime::Unavailable(refused, std::chrono::seconds(1));
}

runtime::BlockingThread& Exclusives::blocking() {
    if (bounds_.blocking) return *bounds_.blocking;
    if (!own_blocking_) {
        own_blocking_ = std::make_unique<runtime::BlockingThread>(
            runtime::BlockingThread::Options{.name = "pg-cancel"});
    }
    return *own_blocking_;
}

std::shared_ptr<Connection> Exclusives::take_idle() {
    while (!idle_.empty()) {
        std::shared_ptr<Connection> connection = std::move(idle_.back());
        idle_.pop_back();
        if (!connection->lose_if_replaced()) return connection;
    }
    return nullptr;
}

void Exclusives::call_next(std::shared_ptr<Connection> connection) {
    if (waiters_.empty()) return;
    const std::shared_ptr<Waiter> waiter = std::move(waiters_.front());
    waiters_.pop_front();
    waiter->connection = std::move(connection);
    waiter->called = true;
    waiter->woken.cancel();
}

void Exclusives::note_returned() {
    if (lent() == 0) all_back_.set();
}

}  // namespace tenon::postgres
