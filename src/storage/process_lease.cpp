#include "storage/process_lease.hpp"

#include <utility>

#include "runtime/failure.hpp"
#include "runtime/log.hpp"
#include "runtime/wait.hpp"

namespace tenon::storage {

using boost::asio::awaitable;
using postgres::Parameters;
using postgres::Statement;
using std::chrono::steady_clock;

namespace {

// $1 process, $2 how long it lives, $3 grace (milliseconds). One statement: the number of a lease
// that ended long ago is taken over in place, so two processes that ask at once meet at its row.
// A lease that was given back had been granted until at most $2 after that, and its holder may have
// made ids up to there by a clock that is ahead: the number's next stretch begins no earlier.
// Index: processes_number_key, at most 1,024 rows.
constexpr Statement take_lease{R"sql(
WITH free AS (
    SELECT number
    FROM generate_series(0, 1023) AS number
    WHERE NOT EXISTS (SELECT FROM tenon.processes AS held
                      WHERE held.number = number.number
                        AND held.lease_until + $3::bigint * interval '1 millisecond'
                            > clock_timestamp())
    ORDER BY number
    LIMIT 1
)
INSERT INTO tenon.processes AS held (process, number, lease_until)
SELECT $1::uuid, number, clock_timestamp() + $2::bigint * interval '1 millisecond'
FROM free
ON CONFLICT (number) DO UPDATE
SET process = excluded.process,
    token = DEFAULT,
    started_at = greatest(clock_timestamp(),
                          held.lease_until + $2::bigint * interval '1 millisecond'),
    lease_until = excluded.lease_until
WHERE held.lease_until + $3::bigint * interval '1 millisecond' <= clock_timestamp()
RETURNING token, number, started_at, lease_until
)sql"};

// $1 process, $2 how long it lives. Index: processes_pkey.
constexpr Statement renew_lease{R"sql(
UPDATE tenon.processes
SET lease_until = clock_timestamp() + $2::bigint * interval '1 millisecond'
WHERE process = $1::uuid
RETURNING token, number, started_at, lease_until
)sql"};

// Its number stays reserved for the grace: ids may still be on their way. Index: processes_pkey.
constexpr Statement end_lease{
    "UPDATE tenon.processes SET lease_until = clock_timestamp() WHERE process = $1::uuid"};

// Index: processes_token_key.
constexpr Statement find_live{
    "SELECT FROM tenon.processes WHERE token = $1::bigint AND lease_until > clock_timestamp()"};

}  // namespace

ProcessLease::ProcessLease(Database& database, base::Uuid process, LeaseOptions options)
    : database_(database), process_(process), options_(options) {}

awaitable<void> ProcessLease::run() {
    while (true) {
        auto call = database_.core().make_call(options_.renew_every);
        try {
            co_await renew(call);
        } catch (const runtime::Failure& failure) {
            runtime::log(runtime::Level::debug, "the process's lease was not renewed",
                         {{"reason", failure.what()}});
        }
        co_await runtime::pause_for(options_.renew_every);
    }
}

awaitable<void> ProcessLease::renew(runtime::Call& call) {
    const auto asked_at = steady_clock::now();
    const std::int64_t ttl = options_.ttl.count();
    const std::int64_t grace = options_.grace.count();
    auto rows = co_await database_.ask_control(
        call, {.statement = renew_lease, .parameters = Parameters::of(process_, ttl)});
    // Somebody may take the same number between the statement's two looks: then the next is free.
    constexpr int tries_max = 8;
    for (int tries = 0; rows.empty() && tries < tries_max; ++tries) {
        rows = co_await database_.ask_control(
            call, {.statement = take_lease, .parameters = Parameters::of(process_, ttl, grace)});
    }
    if (rows.empty()) {
        throw runtime::Unavailable("all 1024 process numbers are taken", std::chrono::seconds(10));
    }
    lease_ = Lease{.token = rows.value<std::int64_t>(0, 0),
                   .number = rows.value<std::int32_t>(0, 1),
                   .until = asked_at + options_.ttl,
                   .from = rows.value<base::Time>(0, 2),
                   .ends = rows.value<base::Time>(0, 3)};
    token_.store(lease_->token, std::memory_order_relaxed);
}

awaitable<void> ProcessLease::give_back(runtime::Call& call) {
    token_.store(0, std::memory_order_relaxed);
    if (!std::exchange(lease_, std::nullopt)) co_return;
    co_await database_.ask_control(
        call, {.statement = end_lease, .parameters = Parameters::of(process_)});
}

std::optional<Lease> ProcessLease::current() const {
    if (!lease_ || lease_->until <= steady_clock::now()) return std::nullopt;
    return lease_;
}

awaitable<bool> is_dead(runtime::Call& call, Database& database, std::int64_t token) {
    const auto rows = co_await database.ask_control(
        call, {.statement = find_live, .parameters = Parameters::of(token), .writes = false});
    const bool lives = !rows.empty();
    co_return !lives;
}

}  // namespace tenon::storage
