#include "storage/pending_claims.hpp"

#include <exception>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "runtime/failure.hpp"
#include "runtime/log.hpp"
#include "runtime/report.hpp"
#include "storage/errors.hpp"

namespace tenon::storage {

using boost::asio::awaitable;
using postgres::Parameters;
using postgres::Query;
using postgres::Rows;
using postgres::Statement;

namespace {

// Index: claims_pkey, claim_holds_pkey. One statement, so that a claim and its hold are there
// together or not at all.
constexpr Statement insert_pending{R"sql(
WITH claimed AS (
    INSERT INTO tenon.claims (bucket, project, caller, key, fingerprint, state, outcome, answer)
    VALUES ($1, $2, $3, $4, $5, 1, '', '')
    ON CONFLICT DO NOTHING
    RETURNING bucket, project, caller, key
)
INSERT INTO tenon.claim_holds (bucket, project, caller, key, kind, drawn, hold, holder)
SELECT bucket, project, caller, key, $6, $7, $8, $9
FROM claimed
)sql"};

// Index: claims_pkey, claim_holds_pkey.
constexpr Statement select_pending{R"sql(
SELECT claim.fingerprint, claim.state, claim.outcome, claim.answer,
       held.hold, held.holder, held.kind, held.drawn,
       (extract(epoch FROM clock_timestamp() - held.held_at) * 1000)::bigint
FROM tenon.claims AS claim
LEFT JOIN tenon.claim_holds AS held
    ON held.bucket = $1 AND held.project = $2 AND held.caller = $3 AND held.key = $4
WHERE claim.bucket = $1 AND claim.project = $2 AND claim.caller = $3 AND claim.key = $4
)sql"};

// Index: claim_holds_pkey. Of two that saw the same hold, the second waits for the first and then
// no longer finds it.
constexpr Statement change_hold{R"sql(
UPDATE tenon.claim_holds
SET hold = $6, holder = $7, held_at = clock_timestamp()
WHERE bucket = $1 AND project = $2 AND caller = $3 AND key = $4 AND hold = $5
)sql"};

// Index: claim_holds_pkey.
constexpr Statement end_hold{R"sql(
UPDATE tenon.claim_holds
SET holder = 0
WHERE bucket = $1 AND project = $2 AND caller = $3 AND key = $4 AND hold = $5
)sql"};

// Index: claim_holds_pkey, claims_pkey.
constexpr Statement settle_claim{R"sql(
WITH held AS (
    DELETE FROM tenon.claim_holds
    WHERE bucket = $1 AND project = $2 AND caller = $3 AND key = $4 AND hold = $5
    RETURNING bucket
)
UPDATE tenon.claims
SET state = 0, outcome = $6, answer = $7
WHERE bucket = $1 AND project = $2 AND caller = $3 AND key = $4 AND EXISTS (SELECT FROM held)
)sql"};

// Index: claim_holds_pkey, claims_pkey.
constexpr Statement forget_claim{R"sql(
WITH held AS (
    DELETE FROM tenon.claim_holds
    WHERE bucket = $1 AND project = $2 AND caller = $3 AND key = $4 AND hold = $5
    RETURNING bucket
)
DELETE FROM tenon.claims
WHERE bucket = $1 AND project = $2 AND caller = $3 AND key = $4 AND EXISTS (SELECT FROM held)
)sql"};

constexpr Statement call_act{"SELECT tenon.act($1::integer, $2::uuid[])"};
constexpr Statement call_undo{"SELECT tenon.undo($1::integer, $2::uuid[])"};

constexpr std::string_view undone = "TN020";
constexpr std::int16_t state_pending = 1;

Parameters name_of(const ClaimKey& key) {
    return Parameters::of(key.bucket, key.project, key.caller, key.key);
}

Parameters name_of(const HeldClaim& held) {
    auto parameters = name_of(held.key);
    parameters.add(held.hold.id);
    return parameters;
}

SeenClaim read_seen(const Rows& rows) {
    SeenClaim seen{.claim = {.fingerprint = rows.value<base::Digest>(0, 0),
                             .pending = rows.value<std::int16_t>(0, 1) == state_pending,
                             .outcome = rows.value<std::string>(0, 2),
                             .answer = rows.value<std::string>(0, 3)},
                   .hold = std::nullopt};
    if (const auto id = rows.value<std::optional<base::Uuid>>(0, 4)) {
        seen.hold = Hold{.id = *id,
                         .holder = rows.value<std::int64_t>(0, 5),
                         .kind = rows.value<std::string>(0, 6),
                         .drawn = rows.value<std::string>(0, 7),
                         .age = std::chrono::milliseconds(rows.value<std::int64_t>(0, 8))};
    }
    return seen;
}

Query insertion(const HeldClaim& wanted, const base::Digest& fingerprint) {
    auto parameters = name_of(wanted.key);
    parameters.add(fingerprint);
    parameters.add(wanted.hold.kind);
    parameters.add(wanted.hold.drawn);
    parameters.add(wanted.hold.id);
    parameters.add(wanted.hold.holder);
    return {.statement = insert_pending, .parameters = std::move(parameters)};
}

awaitable<std::size_t> change(runtime::Call& call, Database& database, base::Bucket bucket,
                              Query query) {
    const std::vector buckets{bucket};
    std::vector<Query> queries;
    queries.push_back(std::move(query));
    const auto results = co_await database.write(call, buckets, std::move(queries));
    co_return results.front().affected();
}

base::Error repeat_later() {
    base::Error running(errors::claim_running,
                        "The first request with this Idempotency-Key was cut off and is being "
                        "ended. Repeat the same request later to get its answer.");
    running.repeat_after(std::chrono::seconds(1));
    return running;
}

}  // namespace

HeldClaim PendingClaims::want(const runtime::Call& call, PendingRequest request) const {
    TENON_ASSERT(call.claim.has_value());
    const auto token = lease_.token();
    if (token == 0) {
        throw runtime::Unavailable(
            "this process has no lease yet: the control database was away since it started",
            std::chrono::seconds(1));
    }
    return {.key = {.bucket = request.bucket,
                    .project = call.project,
                    .caller = call.subject,
                    .key = call.claim->key},
            .hold = {.id = base::make_uuid_v4(database_.core().random()),
                     .holder = token,
                     .kind = std::move(request.kind),
                     .drawn = std::move(request.drawn)}};
}

awaitable<base::Result<ClaimOutcome>> PendingClaims::run(runtime::Call& call,
                                                         PendingRequest request, Act act) {
    const auto wanted = want(call, std::move(request));
    std::optional<base::Result<std::variant<HeldClaim, StoredClaim>>> begun;
    std::exception_ptr failure;
    try {
        begun = co_await begin(call, wanted);
    } catch (const runtime::OutcomeUnknown&) {
        failure = std::current_exception();
    } catch (const runtime::DeadlineExceeded&) {
        failure = std::current_exception();  // of the wait, not of the statement
    }
    if (failure) {
        // It may be there under this hold, or come to be.
        co_await give_up_unseen(wanted, call.claim->fingerprint);
        std::rethrow_exception(failure);
    }
    if (!*begun) co_return base::fail(std::move(begun->error()));
    if (const auto* stored = std::get_if<StoredClaim>(&**begun)) {
        call.claim->replayed = true;
        co_return ClaimOutcome{.outcome = stored->outcome, .answer = stored->answer};
    }
    co_return co_await act_and_settle(call, std::get<HeldClaim>(std::move(**begun)),
                                      std::move(act));
}

awaitable<base::Result<ClaimOutcome>> PendingClaims::act_and_settle(runtime::Call& call,
                                                                    HeldClaim held, Act act) {
    std::exception_ptr failure;
    try {
        const auto outcome = co_await act(call, held);
        if (co_await settle(call, held, outcome)) co_return outcome;
    } catch (...) {
        failure = std::current_exception();
    }
    if (is_undone(failure)) {
        co_await forget_undone(call, held);
        co_return base::fail(repeat_later());
    }
    if (failure) {
        if (!runtime::is_cancellation(failure)) co_await give_up(held);
        std::rethrow_exception(failure);
    }
    co_return co_await answer_late(call, held);
}

// The ids of this claim are spent: the next request under the key draws others.
awaitable<void> PendingClaims::forget_undone(runtime::Call& call, const HeldClaim& held) {
    try {
        co_await forget(call, held);
        co_return;
    } catch (const runtime::Failure& failure) {
        runtime::log(runtime::Level::info, call, "an undone claim stays for whoever repeats it",
                     {{"kind", held.hold.kind}, {"reason", failure.what()}});
    }
    co_await give_up(held);
}

// Another took the claim over meanwhile. Its answer is the one that counts; until it is there, this
// request has none.
awaitable<base::Result<ClaimOutcome>> PendingClaims::answer_late(runtime::Call& call,
                                                                 const HeldClaim& held) {
    const auto seen = co_await find_pending(call, database_, held.key);
    if (!seen) co_return base::fail(repeat_later());
    const auto step = decide_pending(*seen, call.claim->fingerprint, Holder::alive);
    if (!step) co_return base::fail(step.error());
    call.claim->replayed = true;
    co_return ClaimOutcome{.outcome = seen->claim.outcome, .answer = seen->claim.answer};
}

awaitable<base::Result<std::variant<HeldClaim, StoredClaim>>> PendingClaims::begin(
    runtime::Call& call, HeldClaim wanted) {
    // Each turn but the last met a claim that was swept, or lost to another who took it over.
    constexpr int tries_max = 8;
    for (int tries = 0; tries < tries_max; ++tries) {
        if (co_await claim(call, wanted)) co_return wanted;
        auto seen = co_await find_pending(call, database_, wanted.key);
        if (!seen) continue;
        auto holder = Holder::alive;
        const auto& fingerprint = call.claim->fingerprint;
        if (seen->hold && seen->claim.fingerprint == fingerprint) {
            holder = co_await judge(call, *seen->hold);
        }
        const auto step = decide_pending(*seen, fingerprint, holder);
        if (!step) co_return base::fail(step.error());
        if (*step == RepeatStep::replay) co_return std::move(seen->claim);
        HeldClaim from{.key = wanted.key, .hold = std::move(*seen->hold)};
        auto held = co_await take_over(call, std::move(from), wanted.hold.id);
        if (held) co_return std::move(*held);
    }
    throw runtime::Unavailable("a claim met too many others", std::chrono::seconds(1));
}

awaitable<bool> PendingClaims::claim(runtime::Call& call, const HeldClaim& wanted) {
    co_return co_await change(call, database_, wanted.key.bucket,
                              insertion(wanted, call.claim->fingerprint)) == 1;
}

awaitable<Holder> PendingClaims::judge(runtime::Call& call, Hold hold) {
    if (const auto known = judge_holder(hold, lease_.token(), options_.hold_max)) co_return *known;
    try {
        co_return co_await is_dead(call, database_, hold.holder) ? Holder::dead : Holder::alive;
    } catch (const runtime::Failure& failure) {
        runtime::log(runtime::Level::debug, call, "a claim's holder could not be asked about",
                     {{"reason", failure.what()}});
        co_return Holder::alive;
    }
}

awaitable<std::optional<HeldClaim>> PendingClaims::take_over(runtime::Call& call, HeldClaim seen,
                                                             base::Uuid hold) {
    auto parameters = name_of(seen);
    seen.hold.id = hold;
    seen.hold.holder = lease_.token();
    parameters.add(seen.hold.id);
    parameters.add(seen.hold.holder);
    const auto changed =
        co_await change(call, database_, seen.key.bucket,
                        {.statement = change_hold, .parameters = std::move(parameters)});
    if (changed == 0) co_return std::nullopt;
    co_return seen;
}

awaitable<bool> PendingClaims::settle(runtime::Call& call, const HeldClaim& held,
                                      ClaimOutcome outcome) {
    auto parameters = name_of(held);
    parameters.add(outcome.outcome);
    parameters.add(outcome.answer);
    co_return co_await change(call, database_, held.key.bucket,
                              {.statement = settle_claim, .parameters = std::move(parameters)}) ==
        1;
}

awaitable<bool> PendingClaims::forget(runtime::Call& call, const HeldClaim& held) {
    co_return co_await change(call, database_, held.key.bucket,
                              {.statement = forget_claim, .parameters = name_of(held)}) == 1;
}

awaitable<void> PendingClaims::give_up(HeldClaim held) {
    std::vector<Query> queries;
    queries.push_back({.statement = end_hold, .parameters = name_of(held)});
    co_await give_up_by(std::move(held), std::move(queries));
}

// Claims first what is given up then: that waits for a claim which is still on its way, and leaves
// nothing to do to one that comes later.
awaitable<void> PendingClaims::give_up_unseen(HeldClaim wanted, base::Digest fingerprint) {
    std::vector<Query> queries;
    queries.push_back(insertion(wanted, fingerprint));
    queries.push_back({.statement = end_hold, .parameters = name_of(wanted)});
    co_await give_up_by(std::move(wanted), std::move(queries));
}

awaitable<void> PendingClaims::give_up_by(HeldClaim held, std::vector<Query> queries) {
    auto call = database_.core().make_call(options_.give_up_limit);
    const std::vector buckets{held.key.bucket};
    try {
        co_await database_.write(call, buckets, std::move(queries));
    } catch (const runtime::Failure& failure) {
        runtime::log(runtime::Level::info, call, "a claim was not given up; its age will do it",
                     {{"kind", held.hold.kind}, {"reason", failure.what()}});
    }
}

awaitable<std::optional<SeenClaim>> find_pending(runtime::Call& call, Database& database,
                                                 ClaimKey key) {
    const auto rows = co_await database.read(
        call, key.bucket, Policy::primary,
        {.statement = select_pending, .parameters = name_of(key), .writes = false});
    if (rows.empty()) co_return std::nullopt;
    co_return read_seen(rows);
}

Query guard_effect(base::Bucket bucket, std::span<const base::Uuid> ids) {
    return {.statement = call_act,
            .parameters = Parameters::of(bucket, std::vector(ids.begin(), ids.end()))};
}

Query undo_effect(base::Bucket bucket, std::span<const base::Uuid> ids) {
    return {.statement = call_undo,
            .parameters = Parameters::of(bucket, std::vector(ids.begin(), ids.end()))};
}

bool is_undone(const std::exception_ptr& failure) {
    if (!failure) return false;
    try {
        std::rethrow_exception(failure);
    } catch (const postgres::QueryFailed& refused) {
        return refused.is(undone);
    } catch (...) {
        return false;
    }
}

}  // namespace tenon::storage
