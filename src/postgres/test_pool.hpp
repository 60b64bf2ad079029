// A pool on a core that a test turns, over the PostgreSQL that the environment names.
#pragma once

#include <gtest/gtest.h>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "postgres/pool.hpp"
#include "runtime/task_group.hpp"
#include "runtime/test_core.hpp"

namespace tenon::postgres {

/// Where tests find PostgreSQL.
inline PoolOptions test_options() {
    const char* conninfo = std::getenv("TENON_TEST_POSTGRES");
    if (!conninfo) {
        throw std::runtime_error(
            "TENON_TEST_POSTGRES is not set: run scripts/with-engines PROGRAM");
    }
    PoolOptions options;
    options.conninfo = conninfo;
    return options;
}

/// A pool that is closed when its test ends.
class TestPool {
public:
    explicit TestPool(PoolOptions options = test_options()) : pool(host.core, std::move(options)) {}
    ~TestPool() {
        runtime::Call call = host.call(std::chrono::seconds(10));
        host.run(pool.close(call));
    }

    /// Runs a coroutine function that gets the pool and a call.
    template <class T>
    T run(boost::asio::awaitable<T> (*body)(Pool&, runtime::Call&)) {
        runtime::Call call = host.call();
        return host.run(body(pool, call));
    }
    Rows query(const char* sql, Parameters parameters = {}) {
        runtime::Call call = host.call();
        return host.run(pool.query(call, {{sql}, std::move(parameters)}));
    }
    void script(std::string sql) {
        runtime::Call call = host.call();
        host.run(pool.run_script(call, std::move(sql)));
    }

    runtime::TestCore host;
    Pool pool;
};

/// Starts `count` coroutines made by `make` and returns when all have ended. Expects: they keep
/// their failures to themselves.
inline boost::asio::awaitable<void> all_of(
    runtime::Core& core, std::size_t count,
    std::function<boost::asio::awaitable<void>(std::size_t)> make) {
    runtime::TaskGroup tasks(core.io());
    for (std::size_t i = 0; i < count; ++i) tasks.spawn("one of many", make(i));
    co_await tasks.join();
}

}  // namespace tenon::postgres
