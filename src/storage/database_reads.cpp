// Reads over several nodes: asked at once, judged together, asked again while buckets move.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/assert.hpp"
#include "runtime/report.hpp"
#include "storage/database_state.hpp"

namespace tenon::storage {

namespace asio = boost::asio;
using asio::awaitable;
using postgres::Parameters;
using postgres::Query;
using postgres::Rows;

namespace {

// Both run after the statement that they speak for, in its transaction: what a node still serves
// by then under the epoch of a map that was known before, it served in that statement's snapshot.
// The buckets come along only where they are not those that were expected, whose digest is $1.

// Index: served_pkey; tenon.fences is read only where it is not as expected.
constexpr postgres::Statement tell_all_served{R"(
    SELECT total, digest,
           CASE WHEN digest <> $1 THEN
               (SELECT array_agg(bucket ORDER BY bucket)
                FROM tenon.fences WHERE state <> 'moved') END AS buckets,
           CASE WHEN digest <> $1 THEN
               (SELECT array_agg(epoch ORDER BY bucket)
                FROM tenon.fences WHERE state <> 'moved') END AS epochs
    FROM tenon.served)"};

// Of the buckets in $2. Index: fences_pkey; OFFSET 0 keeps it one look-up per bucket.
constexpr postgres::Statement tell_served{R"(
    WITH served AS MATERIALIZED (
        SELECT fence.bucket, fence.epoch
        FROM unnest($2::integer[]) AS wanted (bucket)
        CROSS JOIN LATERAL (
            SELECT bucket, epoch
            FROM tenon.fences
            WHERE bucket = wanted.bucket AND state <> 'moved'
            OFFSET 0) AS fence
    ), whole AS (
        SELECT count(*)::integer AS total,
               sha256(convert_to(coalesce(string_agg(bucket || ':' || epoch, ',' ORDER BY bucket),
                                          ''), 'UTF8')) AS digest
        FROM served)
    SELECT total, digest,
           CASE WHEN digest <> $1 THEN
               (SELECT array_agg(bucket ORDER BY bucket) FROM served) END AS buckets,
           CASE WHEN digest <> $1 THEN
               (SELECT array_agg(epoch ORDER BY bucket) FROM served) END AS epochs
    FROM whole)"};

Query coverage_of(const Owned& owned, bool is_whole) {
    if (is_whole) {
        return {.statement = tell_all_served,
                .parameters = Parameters::of(owned.digest),
                .writes = false};
    }
    std::vector<base::Bucket> buckets;
    buckets.reserve(owned.pairs.size());
    for (const ServedBucket& pair : owned.pairs) buckets.push_back(pair.bucket);
    return {.statement = tell_served,
            .parameters = Parameters::of(owned.digest, buckets),
            .writes = false};
}

ServedPart read_part(Node node, const Rows& rows) {
    ServedPart part{.node = node,
                    .total = rows.value<std::int32_t>(0, 0),
                    .digest = rows.value<base::Digest>(0, 1),
                    .pairs = {}};
    const auto buckets = rows.value<std::optional<std::vector<base::Bucket>>>(0, 2);
    const auto epochs = rows.value<std::optional<std::vector<std::int64_t>>>(0, 3);
    if (!buckets || !epochs) return part;
    for (std::size_t at = 0; at < buckets->size(); ++at) {
        part.pairs.push_back({.bucket = (*buckets)[at], .epoch = (*epochs)[at]});
    }
    return part;
}

/// The places of keys at one node, and their buckets.
struct NodeKeys {
    std::vector<std::size_t> places;
    std::vector<ServedBucket> pairs;
};

std::map<Node, NodeKeys> group_by_node(const Map& map, std::span<const base::Bucket> keys) {
    std::map<Node, NodeKeys> groups;
    for (std::size_t place = 0; place < keys.size(); ++place) {
        const Map::Place owner = map.place_of(keys[place]);
        NodeKeys& group = groups[owner.node];
        group.places.push_back(place);
        group.pairs.push_back({.bucket = keys[place], .epoch = owner.epoch});
    }
    for (auto& [node, group] : groups) {
        std::ranges::sort(group.pairs);
        const auto folded = std::ranges::unique(group.pairs);
        group.pairs.erase(folded.begin(), folded.end());
    }
    return groups;
}

/// Counts a scatter while it runs.
class Turn {
public:
    explicit Turn(std::size_t& running) : running_(running) { ++running_; }
    ~Turn() { --running_; }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

private:
    std::size_t& running_;
};

}  // namespace

void RoundOutcome::require_whole() const {
    for (const PartAnswer& answer : answers) {
        if (answer.failure) std::rethrow_exception(answer.failure);
    }
    if (!gaps.empty()) throw NotCovered(gaps);
}

awaitable<void> Database::State::ask_part(runtime::Call& call, const Pools& of, const Round& round,
                                          std::size_t at, PartAnswer& answer) {
    const Owned& asked = (*round.asked)[at];
    try {
        refuse_held(asked.node);
        std::vector<Query> queries;
        queries.push_back(round.queries[at]);
        queries.back().writes = false;
        queries.push_back(coverage_of(asked, round.is_whole));
        auto results = co_await of[asked.node.index]->atomically(call, std::move(queries));
        answer.served = read_part(asked.node, results.back());
        answer.rows = std::move(results.front());
    } catch (const runtime::Failure&) {
        answer.failure = std::current_exception();
    }
}

// None is cancelled because of another, so that whoever hears of a failure hears of the node that
// failed.
awaitable<std::vector<PartAnswer>> Database::State::ask_all(runtime::Call& call, const Pools& of,
                                                            const Round& round) {
    std::vector<PartAnswer> answers(round.asked->size());
    if (answers.size() == 1) {
        co_await ask_part(call, of, round, 0, answers.front());
        co_return answers;
    }
    runtime::TaskGroup nodes(core.io());
    for (std::size_t at = 0; at < answers.size(); ++at) {
        nodes.spawn("storage.ask_node", ask_part(call, of, round, at, answers[at]));
    }
    co_await nodes.join_fully();
    co_return answers;
}

awaitable<void> Database::State::wait_for_map(std::chrono::milliseconds pause) {
    try {
        co_await map_changed.wait(std::chrono::steady_clock::now() + pause);
    } catch (const runtime::DeadlineExceeded&) {
        co_return;  // the fences may have caught up with the map that is known
    }
}

awaitable<RoundOutcome> Database::State::ask_whole(runtime::Call& call, const Pools& of,
                                                   const std::function<Round()>& plan) {
    auto pause = reads.pause;
    for (int number = 1;; ++number, pause *= 2) {
        RoundOutcome outcome{.round = plan(), .answers = {}, .gaps = {}};
        outcome.answers = co_await ask_all(call, of, outcome.round);
        std::vector<ServedPart> parts;
        for (PartAnswer& answer : outcome.answers) {
            if (!answer.failure) parts.push_back(std::move(answer.served));
        }
        outcome.gaps = judge_coverage(*outcome.round.asked, parts);
        const bool has_failed = parts.size() < outcome.answers.size();
        const bool is_last = number >= reads.rounds_max || call.remaining() <= pause;
        if (outcome.gaps.empty() || has_failed || is_last) co_return outcome;
        co_await wait_for_map(pause);
    }
}

Round Database::State::plan_nodes(const AskNode& ask) const {
    Round round{.asked = owned, .queries = {}, .is_whole = true};
    for (const Owned& part : *owned) round.queries.push_back(ask(part));
    return round;
}

awaitable<std::vector<KeysPart>> Database::each(runtime::Call& call, std::vector<base::Bucket> keys,
                                                Policy /*policy*/, AskKeys ask) {
    std::vector<KeysPart> parts;
    if (keys.empty()) co_return parts;
    const auto plan = [&] {
        parts.clear();
        Round round{.asked = {}, .queries = {}, .is_whole = false};
        std::vector<Owned> asked;
        for (auto& [node, group] : group_by_node(*state_->map, keys)) {
            round.queries.push_back(ask(group.places));
            asked.push_back(make_owned(node, std::move(group.pairs)));
            parts.push_back({.keys = std::move(group.places), .rows = {}});
        }
        round.asked = std::make_shared<const std::vector<Owned>>(std::move(asked));
        return round;
    };
    auto outcome = co_await state_->ask_whole(call, state_->pools, plan);
    outcome.require_whole();
    for (std::size_t at = 0; at < parts.size(); ++at) {
        parts[at].rows = std::move(outcome.answers[at].rows);
    }
    co_return parts;
}

awaitable<std::vector<Rows>> Database::ask_nodes(runtime::Call& call, Policy /*policy*/,
                                                 AskNode ask) {
    const auto plan = [&] { return state_->plan_nodes(ask); };
    auto outcome = co_await state_->ask_whole(call, state_->pools, plan);
    outcome.require_whole();
    std::vector<Rows> parts;
    parts.reserve(outcome.answers.size());
    for (PartAnswer& answer : outcome.answers) parts.push_back(std::move(answer.rows));
    co_return parts;
}

awaitable<Scattered> Database::scatter(runtime::Call& call, AskNode ask) {
    if (state_->scatters >= state_->reads.scatters_max) {
        throw runtime::Unavailable(
            fmt::format("{} reads over all nodes are running, which is their bound",
                        state_->scatters),
            std::chrono::seconds(1));
    }
    const Turn turn(state_->scatters);
    runtime::Call asking = call;
    asking.deadline =
        std::min(call.deadline, std::chrono::steady_clock::now() + state_->reads.scatter_limit);
    const auto plan = [&] { return state_->plan_nodes(ask); };
    auto outcome = co_await state_->ask_whole(asking, state_->pools_of_scatters(), plan);
    Scattered scattered;
    for (std::size_t at = 0; at < outcome.answers.size(); ++at) {
        PartAnswer& answer = outcome.answers[at];
        if (answer.failure) {
            const Node node = (*outcome.round.asked)[at].node;
            scattered.silent.push_back({.node = state_->spec(node).name,
                                        .why = runtime::describe_failure(answer.failure)});
        } else {
            scattered.parts.push_back(std::move(answer.rows));
        }
    }
    if (scattered.parts.empty()) std::rethrow_exception(outcome.answers.front().failure);
    scattered.missing = outcome.gaps.all();
    co_return scattered;
}

}  // namespace tenon::storage
