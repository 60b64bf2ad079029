// One core with a database, for commands that do one thing and end.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>
#include <chrono>
#include <memory>

#include "access/keys.hpp"
#include "app/config.hpp"
#include "base/clock.hpp"
#include "runtime/core.hpp"
#include "storage/database.hpp"

namespace tenon::app {

/// A database connection with keys and store, and the thread that serves it.
///
/// Threads: the main thread calls run(); what it runs, runs on the core.
class ToolSession {
public:
    explicit ToolSession(const Config& config);
    ~ToolSession();

    /// Runs a coroutine to its end and gives its result.
    template <class T>
    T run(boost::asio::awaitable<T> work) {
        return boost::asio::co_spawn(cores_[0].io(), std::move(work), boost::asio::use_future)
            .get();
    }
    [[nodiscard]] runtime::Call make_call() {
        return cores_[0].make_call(std::chrono::seconds(10));
    }
    [[nodiscard]] runtime::Core& core() { return cores_[0]; }
    [[nodiscard]] storage::Database& database() { return *database_; }
    [[nodiscard]] access::Keys& keys() { return *keys_; }
    [[nodiscard]] access::Store& store() { return *store_; }

private:
    boost::asio::awaitable<void> close(runtime::Call& call);

    base::SystemClock clock_;
    runtime::Cores cores_;
    access::KeyCache cache_;
    std::unique_ptr<storage::Database> database_;
    std::unique_ptr<access::Keys> keys_;
    std::unique_ptr<access::Store> store_;
};

}  // namespace tenon::app
