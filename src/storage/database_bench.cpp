// Reads of one row, per second, by ways that tools/bench-postgres and tools/bench-router compare.
//
//   storage_database_bench WAY SECONDS CALLERS ROWS
//
// WAY is pool (each caller one statement at a time), batch (the same through a Batcher), router
// (Database::read) or libpq (the router's two statements, pipelined by hand on one connection).
// TENON_BENCH_POSTGRES names a database with pgbench's tables, and for router and libpq with
// Tenon's schema. Prints reads per second.
#include <fmt/format.h>
#include <libpq-fe.h>
#include <poll.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "postgres/pool.hpp"
#include "postgres/wire.hpp"
#include "runtime/batcher.hpp"
#include "runtime/task_group.hpp"
#include "runtime/test_core.hpp"
#include "storage/database.hpp"

namespace tenon::storage {
namespace {

using boost::asio::awaitable;
using postgres::Parameters;
using postgres::Query;
using std::chrono::steady_clock;

constexpr postgres::Statement read_one{
    "SELECT abalance FROM pgbench_accounts WHERE aid = $1::integer"};
constexpr postgres::Statement read_many{
    "SELECT account.abalance FROM unnest($1::integer[]) WITH ORDINALITY AS wanted(aid, ord) "
    "JOIN pgbench_accounts AS account USING (aid) ORDER BY ord"};
constexpr const char* confirm_sql = "SELECT tenon.confirm($1::integer[], $2::bigint[])";

struct Options {
    std::string conninfo;
    std::chrono::seconds duration;
    std::size_t callers;
    std::uint64_t rows;
};

/// Callers on one core, each with its next read as soon as it has the last.
class Load {
public:
    explicit Load(const Options& options) : options_(options) {}

    /// Reads per second of `read`, which gets a row's number.
    template <class Read>
    double measure(Read read) {
        runtime::TaskGroup callers(host.core.io());
        const auto began = steady_clock::now();
        until_ = began + options_.duration;
        for (std::size_t caller = 0; caller < options_.callers; ++caller) {
            callers.spawn("caller", repeat(read));
        }
        host.run(callers.join());
        const std::chrono::duration<double> took = steady_clock::now() - began;
        return static_cast<double>(done_) / took.count();
    }

    runtime::TestCore host;

private:
    template <class Read>
    awaitable<void> repeat(Read read) {
        while (steady_clock::now() < until_) {
            auto call = host.call();
            co_await read(call, static_cast<std::int32_t>(1 + random_.below(options_.rows)));
            ++done_;
        }
    }

    const Options options_;
    base::SeededRandom random_{1};
    steady_clock::time_point until_;
    std::uint64_t done_ = 0;
};

Query one(std::int32_t row) {
    return {.statement = read_one, .parameters = Parameters::of(row), .writes = false};
}

double by_pool(const Options& options) {
    Load load(options);
    postgres::Pool pool(load.host.core, {.conninfo = options.conninfo});
    const auto rate =
        load.measure([&pool](runtime::Call& call, std::int32_t row) -> awaitable<void> {
            co_await pool.query(call, one(row));
        });
    auto call = load.host.call();
    load.host.run(pool.close(call));
    return rate;
}

double by_batch(const Options& options) {
    using Reads = runtime::Batcher<std::int32_t, std::int32_t>;
    Load load(options);
    postgres::Pool pool(load.host.core, {.conninfo = options.conninfo});
    const auto run = [&pool](runtime::Call& call,
                             std::span<const std::int32_t> rows) -> awaitable<std::vector<int>> {
        const std::vector<std::int32_t> wanted(rows.begin(), rows.end());
        const auto found = co_await pool.query(
            call, {.statement = read_many, .parameters = Parameters::of(wanted), .writes = false});
        std::vector<int> balances;
        for (std::size_t row = 0; row < found.size(); ++row) {
            balances.push_back(found.value<std::int32_t>(row, 0));
        }
        co_return balances;
    };
    Reads reads(load.host.core, {}, run);
    const auto rate =
        load.measure([&reads](runtime::Call& call, std::int32_t row) -> awaitable<void> {
            co_await reads.add(call, row);
        });
    load.host.run(reads.close());
    auto call = load.host.call();
    load.host.run(pool.close(call));
    return rate;
}

double by_router(const Options& options) {
    Load load(options);
    const auto map =
        std::make_shared<const Map>(Map::spread({{.name = "n", .conninfo = options.conninfo}}));
    Database database(load.host.core, map, {.conninfo = {}, .multiplexed = 1});
    const auto rate =
        load.measure([&database](runtime::Call& call, std::int32_t row) -> awaitable<void> {
            const base::Bucket bucket{row % 1'024};
            co_await database.read(call, bucket, Policy::primary, one(row));
        });
    auto call = load.host.call();
    load.host.run(database.close(call));
    return rate;
}

/// What somebody would write who knows libpq's pipelines and nothing else.
class Plain {
public:
    explicit Plain(const Options& options)
        : options_(options), connection_(PQconnectdb(options.conninfo.c_str()), &PQfinish) {
        if (PQstatus(connection_.get()) != CONNECTION_OK) fail();
        prepare("one", read_one.sql);
        prepare("confirm", confirm_sql);
        if (PQsetnonblocking(connection_.get(), 1) != 0 ||
            PQenterPipelineMode(connection_.get()) != 1) {
            fail();
        }
    }

    double measure() {
        const auto began = steady_clock::now();
        const auto until = began + options_.duration;
        for (std::size_t caller = 0; caller < options_.callers; ++caller) send();
        while (steady_clock::now() < until) turn();
        const std::chrono::duration<double> took = steady_clock::now() - began;
        return static_cast<double>(done_) / took.count();
    }

private:
    [[noreturn]] void fail() { throw std::runtime_error(PQerrorMessage(connection_.get())); }

    void prepare(const char* name, const char* sql) {
        const std::unique_ptr<PGresult, decltype(&PQclear)> result(
            PQprepare(connection_.get(), name, sql, 0, nullptr), &PQclear);
        if (PQresultStatus(result.get()) != PGRES_COMMAND_OK) fail();
    }

    void send() {
        const auto row = static_cast<std::int32_t>(1 + random_.below(options_.rows));
        const auto bytes = postgres::wire::to_network(row);
        const char* value = bytes.data();
        const int length = sizeof row;
        constexpr int binary = 1;
        PQsendQueryPrepared(connection_.get(), "one", 1, &value, &length, &binary, 1);
        const std::string bucket = fmt::format("{{{}}}", row % 1'024);
        const std::array<const char*, 2> texts{bucket.c_str(), "{1}"};
        PQsendQueryPrepared(connection_.get(), "confirm", 2, texts.data(), nullptr, nullptr, 1);
        if (PQpipelineSync(connection_.get()) != 1) fail();
    }

    void turn() {
        if (PQflush(connection_.get()) < 0) fail();
        pollfd socket{.fd = PQsocket(connection_.get()), .events = POLLIN, .revents = 0};
        ::poll(&socket, 1, 1'000);
        if (PQconsumeInput(connection_.get()) != 1) fail();
        while (PQisBusy(connection_.get()) == 0) {
            PGresult* result = PQgetResult(connection_.get());
            if (result == nullptr) {
                if (++nulls_ > 1) break;
                continue;
            }
            nulls_ = 0;
            const auto status = PQresultStatus(result);
            PQclear(result);
            if (status == PGRES_FATAL_ERROR) fail();
            if (status != PGRES_PIPELINE_SYNC) continue;
            ++done_;
            send();
        }
        nulls_ = 0;
    }

    const Options options_;
    std::unique_ptr<PGconn, decltype(&PQfinish)> connection_;
    base::SeededRandom random_{1};
    std::uint64_t done_ = 0;
    int nulls_ = 0;
};

double measure(const std::string& way, const Options& options) {
    if (way == "pool") return by_pool(options);
    if (way == "batch") return by_batch(options);
    if (way == "router") return by_router(options);
    if (way == "libpq") return Plain(options).measure();
    throw std::invalid_argument("the way is pool, batch, router or libpq, not " + way);
}

}  // namespace
}  // namespace tenon::storage

int main(int count, char** arguments) {
    const char* conninfo = std::getenv("TENON_BENCH_POSTGRES");
    if (count != 5 || conninfo == nullptr) {
        fmt::print(stderr, "usage: TENON_BENCH_POSTGRES=CONNINFO {} WAY SECONDS CALLERS ROWS\n",
                   arguments[0]);
        return 64;
    }
    try {
        const auto rate = tenon::storage::measure(
            arguments[1], {.conninfo = conninfo,
                           .duration = std::chrono::seconds(std::atoi(arguments[2])),
                           .callers = static_cast<std::size_t>(std::atoi(arguments[3])),
                           .rows = static_cast<std::uint64_t>(std::atoll(arguments[4]))});
        fmt::print("{:.1f}\n", rate);
    } catch (const std::exception& failure) {
        fmt::print(stderr, "{}\n", failure.what());
        return 1;
    }
    return 0;
}
