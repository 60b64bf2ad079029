// Pools whose connections pass a proxy, and a workload whose every answer is judged.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "postgres/test_pool.hpp"
#include "runtime/failure.hpp"
#include "runtime/test_proxy.hpp"
#include "runtime/wait.hpp"

namespace tenon::postgres {

/// One connection, for callers that share it.
inline PoolOptions shared_options() {
    PoolOptions options = test_options();
    options.multiplexed = 1;
    options.connect_timeout = std::chrono::seconds(20);
    options.statement_timeout = std::chrono::seconds(20);
    return options;
}

/// A proxy before the server of the tests, and a pool whose connections pass it.
class FaultyPool {
public:
    FaultyPool(runtime::TestCore& on, PoolOptions options, const runtime::FaultPlan& first = {},
               std::uint64_t seed = 1)
        : host(on),
          proxy(on.core, runtime::Proxy::at_path(socket_path()), runtime::Proxy::at_port(0), seed),
          pool(on.core, through(proxy, first, std::move(options))) {}
    ~FaultyPool() {
        runtime::Call call = host.call(std::chrono::seconds(20));
        host.run(pool.close(call));
        host.run(proxy.close());
    }
    FaultyPool(const FaultyPool&) = delete;
    FaultyPool& operator=(const FaultyPool&) = delete;

    /// Asks until there is an answer; one minute ends it.
    Rows query_when_up(const Query& query) {
        runtime::Call call = host.call();
        return host.run(ask_until_up(pool, call, query));
    }
    std::int32_t backend() {
        return query_when_up({{"select pg_backend_pid()"}, {}, false}).value<std::int32_t>(0, 0);
    }

    runtime::TestCore& host;
    runtime::Proxy proxy;
    Pool pool;

private:
    static boost::asio::awaitable<Rows> ask_until_up(Pool& pool, runtime::Call& call,
                                                     const Query& query) {
        for (;;) {
            try {
                co_return co_await pool.query(call, query);
            } catch (const runtime::Unavailable&) {
                if (call.expired()) throw;
            }
            co_await runtime::pause_for(std::chrono::milliseconds(1));
        }
    }
    static std::string socket_path() {
        const std::string conninfo = test_options().conninfo;
        const auto begin = conninfo.find("host=") + 5;
        return conninfo.substr(begin, conninfo.find(' ', begin) - begin) + "/.s.PGSQL.5432";
    }
    static PoolOptions through(runtime::Proxy& proxy, const runtime::FaultPlan& first,
                               PoolOptions options) {
        proxy.plan_next(first);
        options.conninfo += fmt::format(" host=127.0.0.1 port={} sslmode=disable", proxy.port());
        return options;
    }
};

/// Statements of many callers over one pool. Each carries a number of its own and must get it
/// back; what was written is compared with what its callers heard.
class Workload {
public:
    static constexpr std::int64_t statements_total = 24;

    explicit Workload(TestPool& direct) : direct_(direct) {
        direct_.script("drop table if exists pg_fire; create table pg_fire(id int8 primary key)");
    }

    /// Sends a round of reads, writes and pairs that are written together or not at all; returns
    /// when every caller has heard something.
    void run(Pool& pool, std::chrono::milliseconds limit = std::chrono::seconds(30)) {
        const std::int64_t first = next_;
        next_ += 2 * statements_total;
        const auto ask = [&](std::size_t i) -> boost::asio::awaitable<void> {
            runtime::Call call = direct_.host.call(limit);
            co_await hear(pool, call, first + 2 * static_cast<std::int64_t>(i), i % 3);
        };
        direct_.host.run(all_of(direct_.host.core, statements_total, ask));
    }
    /// Compares the table with what the callers heard.
    void judge() {
        const Rows rows = direct_.query("select id from pg_fire");
        std::set<std::int64_t> there;
        for (std::size_t i = 0; i < rows.size(); ++i) there.insert(rows.value<std::int64_t>(i, 0));
        for (const std::int64_t id : acknowledged) EXPECT_TRUE(there.contains(id)) << id;
        for (const std::int64_t id : refused) EXPECT_FALSE(there.contains(id)) << id;
        for (const std::int64_t id : pairs_) {
            EXPECT_EQ(there.contains(id), there.contains(id + 1)) << id;
        }
        EXPECT_EQ(wrong, 0U);
    }

    std::set<std::int64_t> acknowledged;
    std::set<std::int64_t> refused;  ///< heard that nothing was written
    std::size_t answered = 0;
    std::size_t lost = 0;     ///< reads that may be repeated
    std::size_t unknown = 0;  ///< writes whose outcome is not known
    std::size_t late = 0;
    std::size_t failed = 0;  ///< refused by the server
    std::size_t wrong = 0;

private:
    boost::asio::awaitable<void> hear(Pool& pool, runtime::Call& call, std::int64_t number,
                                      std::size_t kind) {
        const bool writes = kind != 0;
        try {
            const std::int64_t heard = co_await ask(pool, call, number, kind);
            ++answered;
            wrong += heard == number ? 0 : 1;
            if (writes) acknowledged.insert(number);
        } catch (const runtime::OutcomeUnknown&) {
            ++(writes ? unknown : wrong);
        } catch (const runtime::Unavailable& away) {
            ++lost;
            wrong += away.advice() == runtime::Advice::repeat ? 0 : 1;
            if (writes) refused.insert(number);
        } catch (const runtime::DeadlineExceeded&) {
            ++late;
        } catch (const QueryFailed&) {
            ++failed;
            if (writes) refused.insert(number);
        }
    }
    boost::asio::awaitable<std::int64_t> ask(Pool& pool, runtime::Call& call, std::int64_t number,
                                             std::size_t kind) {
        constexpr Statement read{"select $1::int8, repeat('x', ($1 % 97)::int4)"};
        constexpr Statement write{"insert into pg_fire values ($1) returning id"};
        if (kind < 2) {
            const Rows rows = co_await pool.query(
                call, {kind == 0 ? read : write, Parameters::of(number), kind != 0});
            co_return rows.value<std::int64_t>(0, 0);
        }
        pairs_.insert(number);
        std::vector<Query> queries;
        queries.push_back({write, Parameters::of(number)});
        queries.push_back({write, Parameters::of(number + 1)});
        const auto results = co_await pool.atomically(call, std::move(queries));
        co_return results.at(1).value<std::int64_t>(0, 0) - 1;
    }

    TestPool& direct_;
    std::int64_t next_ = 1;
    std::set<std::int64_t> pairs_;
};

}  // namespace tenon::postgres
