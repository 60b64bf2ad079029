#include "storage/claims_finisher.hpp"

#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "runtime/failure.hpp"
#include "runtime/log.hpp"
#include "runtime/report.hpp"
#include "runtime/wait.hpp"

namespace tenon::storage {

using boost::asio::awaitable;

namespace {

// $1 buckets of one partition, $2 its first bucket and $3 the one after its last, $4 age in
// milliseconds, $5 kinds, $6 rows at most. All projects: nothing is shown to anybody. Those that
// were taken last come last, so one that cannot be ended holds up no other.
// Index: claim_holds_held_at of the partition.
constexpr postgres::Statement select_old_holds{R"sql(
SELECT bucket, project, caller, key, hold, holder, kind, drawn,
       (extract(epoch FROM clock_timestamp() - held_at) * 1000)::bigint
FROM tenon.claim_holds
WHERE bucket >= $2 AND bucket < $3
  AND bucket = ANY ($1::integer[])
  AND held_at <= (SELECT clock_timestamp() - $4::bigint * interval '1 millisecond')
  AND kind = ANY ($5::text[])
ORDER BY held_at
LIMIT $6::integer
)sql"};

HeldClaim read_held(const postgres::Rows& rows, std::size_t row) {
    return {.key = {.bucket = {rows.value<std::int32_t>(row, 0)},
                    .project = rows.value<base::Uuid>(row, 1),
                    .caller = rows.value<std::string>(row, 2),
                    .key = rows.value<std::string>(row, 3)},
            .hold = {.id = rows.value<base::Uuid>(row, 4),
                     .holder = rows.value<std::int64_t>(row, 5),
                     .kind = rows.value<std::string>(row, 6),
                     .drawn = rows.value<std::string>(row, 7),
                     .age = std::chrono::milliseconds(rows.value<std::int64_t>(row, 8))}};
}

}  // namespace

void ClaimsFinisher::add(const std::string& kind, PendingKind& service) {
    const bool is_new = kinds_.emplace(kind, &service).second;
    TENON_ASSERT(is_new);
}

awaitable<std::size_t> ClaimsFinisher::finish(runtime::Call& call) {
    std::size_t finished = 0;
    auto parts = partitions_of(database_.map());
    for (std::size_t seen = 0; seen < parts.size(); ++seen) {
        if (kinds_.empty() || call.expired()) break;
        auto& part = parts[turn_++ % parts.size()];
        try {
            finished += co_await finish_part(call, std::move(part));
        } catch (const runtime::Unavailable& away) {
            runtime::log(runtime::Level::debug, call, "pending claims wait for their node",
                         {{"part", part.first}, {"why", away.what()}});
        }
    }
    co_return finished;
}

awaitable<std::size_t> ClaimsFinisher::finish_part(runtime::Call& call, Partition part) {
    std::vector<std::string> kinds;
    kinds.reserve(kinds_.size());
    for (const auto& [kind, service] : kinds_) kinds.push_back(kind);
    const auto age = std::int64_t{options_.age.count()};
    auto parameters = postgres::Parameters::of(part.buckets, part.first, part.end, age, kinds,
                                               options_.batch_max);
    const auto rows = co_await database_.read(
        call, part.buckets, Policy::primary,
        {.statement = select_old_holds, .parameters = std::move(parameters), .writes = false});
    std::size_t finished = 0;
    for (std::size_t row = 0; row < rows.size() && !call.expired(); ++row) {
        runtime::Call own = call;
        own.deadline =
            std::min(call.deadline, std::chrono::steady_clock::now() + options_.claim_limit);
        if (co_await finish_one(own, read_held(rows, row))) ++finished;
    }
    co_return finished;
}

awaitable<bool> ClaimsFinisher::finish_one(runtime::Call& call, HeldClaim seen) {
    if (co_await claims_.judge(call, seen.hold) == Holder::alive) co_return false;
    HeldClaim taken = seen;
    taken.hold.id = base::make_uuid_v4(database_.core().random());
    std::exception_ptr failure;
    try {
        const auto held = co_await claims_.take_over(call, std::move(seen), taken.hold.id);
        if (!held) co_return false;
        const auto outcome = co_await kinds_.at(held->hold.kind)->finish(call, *held);
        if (outcome) co_return co_await claims_.settle(call, *held, *outcome);
        co_return co_await claims_.forget(call, *held);
    } catch (...) {
        failure = std::current_exception();
    }
    if (runtime::is_cancellation(failure)) std::rethrow_exception(failure);
    runtime::log(runtime::Level::warning, call, "a pending claim could not be ended",
                 {{"kind", taken.hold.kind}, {"why", runtime::describe_failure(failure)}});
    co_await claims_.give_up(std::move(taken));  // does nothing where it was not taken
    co_return false;
}

awaitable<void> ClaimsFinisher::run() {
    auto& core = database_.core();
    for (;;) {
        const auto jitter = static_cast<std::uint64_t>(options_.pause.count() / 10 + 1);
        co_await runtime::pause_for(options_.pause +
                                    std::chrono::milliseconds(core.random().below(jitter)));
        auto call = core.make_call(options_.round_limit);
        try {
            const auto finished = co_await finish(call);
            if (finished > 0) {
                runtime::log(runtime::Level::info, call, "ended claims that a process left behind",
                             {{"claims", finished}});
            }
        } catch (const runtime::Failure& failure) {
            runtime::log(runtime::Level::warning, call, "a round of ending claims failed",
                         {{"why", failure.what()}});
        }
    }
}

}  // namespace tenon::storage
