#include "storage/database.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <iterator>
#include <utility>

#include "base/assert.hpp"
#include "runtime/task_group.hpp"

namespace tenon::storage {

namespace asio = boost::asio;
using postgres::Parameters;
using postgres::Pool;
using postgres::Query;
using postgres::Rows;

namespace {

// Both rely on fences_pkey.
constexpr postgres::Statement enter{"SELECT tenon.enter($1::integer[], $2::bigint[])"};
constexpr postgres::Statement confirm{"SELECT tenon.confirm($1::integer[], $2::bigint[])"};

// The buckets of one transaction, sorted and folded, with their epochs and their node.
struct Passage {
    Node node;
    std::vector<base::Bucket> buckets;
    std::vector<std::int64_t> epochs;

    [[nodiscard]] Parameters parameters() const { return Parameters::of(buckets, epochs); }
};

Passage make_passage(const Map& map, std::span<const base::Bucket> buckets) {
    TENON_ASSERT(!buckets.empty());
    Passage passage{.node = map.place_of(buckets.front()).node,
                    .buckets = {buckets.begin(), buckets.end()},
                    .epochs = {}};
    std::ranges::sort(passage.buckets);
    const auto folded = std::ranges::unique(passage.buckets);
    passage.buckets.erase(folded.begin(), folded.end());
    for (const base::Bucket bucket : passage.buckets) {
        const Map::Place place = map.place_of(bucket);
        TENON_ASSERT(place.node == passage.node);
        passage.epochs.push_back(place.epoch);
    }
    return passage;
}

// Turns the fence's refusal into what callers know, and anything else back into itself.
[[noreturn]] void rethrow(const postgres::QueryFailed& failure, const Map::NodeSpec& node) {
    if (!failure.is("TN001")) {
        throw failure;
    }
    throw BucketsMoved(node.name, read_refused_buckets(failure.report().detail));
}

}  // namespace

struct Database::State {
    State(runtime::Core& own_core, std::shared_ptr<const Map> own_map)
        : core(own_core), map(std::move(own_map)) {}

    runtime::Core& core;
    std::shared_ptr<const Map> map;
    std::vector<std::unique_ptr<Pool>> pools;

    Pool& pool(Node node) { return *pools[node.index]; }
    const Map::NodeSpec& spec(Node node) const { return map->nodes()[node.index]; }

    asio::awaitable<Rows> read(runtime::Call& call, Passage passage, Query query) {
        query.writes = false;
        std::vector<Query> queries;
        queries.push_back(std::move(query));
        queries.push_back(
            {.statement = confirm, .parameters = passage.parameters(), .writes = false});
        try {
            auto results = co_await pool(passage.node).atomically(call, std::move(queries));
            co_return std::move(results.front());
        } catch (const postgres::QueryFailed& failure) {
            rethrow(failure, spec(passage.node));
        }
    }

    /// What one node gave, or why it gave nothing.
    struct NodeAnswer {
        Rows rows;
        std::exception_ptr failure;
    };

    asio::awaitable<void> ask(runtime::Call& call, const Query& query, Node node,
                              NodeAnswer& answer) {
        const auto buckets = map->buckets_of(node);
        if (buckets.empty()) co_return;
        try {
            answer.rows = co_await read(call, make_passage(*map, buckets), query);
        } catch (const runtime::Failure&) {
            answer.failure = std::current_exception();
        }
    }

    // All nodes at once. None is cancelled because of another, so that whoever hears of a failure
    // hears of the node that failed.
    asio::awaitable<std::vector<Rows>> ask_all(runtime::Call& call, const Query& query) {
        std::vector<NodeAnswer> answers(map->nodes().size());
        runtime::TaskGroup nodes(core.io());
        for (std::uint32_t index = 0; index < answers.size(); ++index) {
            nodes.spawn("storage.ask", ask(call, query, Node{index}, answers[index]));
        }
        co_await nodes.join_fully();
        std::vector<Rows> results;
        results.reserve(answers.size());
        for (NodeAnswer& answer : answers) {
            if (answer.failure) std::rethrow_exception(answer.failure);
            results.push_back(std::move(answer.rows));
        }
        co_return results;
    }
};

Database::Database(runtime::Core& core, std::shared_ptr<const Map> map,
                   const postgres::PoolOptions& pool)
    : state_(std::make_unique<State>(core, std::move(map))) {
    for (const Map::NodeSpec& node : state_->map->nodes()) {
        postgres::PoolOptions options = pool;
        options.conninfo = node.conninfo;
        state_->pools.push_back(std::make_unique<Pool>(core, std::move(options)));
    }
}

Database::~Database() = default;

Node Database::node_of(base::Bucket bucket) const {
    return state_->map->place_of(bucket).node;
}
std::size_t Database::nodes_total() const {
    return state_->map->nodes().size();
}
const Map& Database::map() const {
    return *state_->map;
}
runtime::Core& Database::core() const {
    return state_->core;
}

asio::awaitable<Rows> Database::read(runtime::Call& call, base::Bucket bucket, Policy /*policy*/,
                                     Query query) {
    return state_->read(call, make_passage(*state_->map, std::span(&bucket, 1)), std::move(query));
}

asio::awaitable<Rows> Database::read(runtime::Call& call, std::span<const base::Bucket> buckets,
                                     Policy /*policy*/, Query query) {
    return state_->read(call, make_passage(*state_->map, buckets), std::move(query));
}

asio::awaitable<std::vector<Rows>> Database::write(runtime::Call& call,
                                                   std::span<const base::Bucket> buckets,
                                                   std::vector<Query> queries) {
    const Passage passage = make_passage(*state_->map, buckets);
    queries.insert(queries.begin(), Query{.statement = enter, .parameters = passage.parameters()});
    try {
        auto results = co_await state_->pool(passage.node).atomically(call, std::move(queries));
        results.erase(results.begin());
        co_return results;
    } catch (const postgres::QueryFailed& failure) {
        rethrow(failure, state_->spec(passage.node));
    }
}

asio::awaitable<postgres::Transaction> Database::begin(runtime::Call& call,
                                                       std::span<const base::Bucket> buckets) {
    const Passage passage = make_passage(*state_->map, buckets);
    auto transaction = co_await state_->pool(passage.node).begin(call);
    try {
        co_await transaction.query(call, {.statement = enter, .parameters = passage.parameters()});
    } catch (const postgres::QueryFailed& failure) {
        rethrow(failure, state_->spec(passage.node));
    }
    co_return transaction;
}

asio::awaitable<std::vector<Rows>> Database::on_every_node(runtime::Call& call, Policy /*policy*/,
                                                           Query query) {
    if (nodes_total() > 1) co_return co_await state_->ask_all(call, query);
    std::vector<Rows> results;
    const auto buckets = state_->map->buckets_of(Node{0});
    results.push_back(co_await state_->read(call, make_passage(*state_->map, buckets), query));
    co_return results;
}

asio::awaitable<Rows> Database::read_reference(runtime::Call& call, Query query) {
    query.writes = false;
    return state_->pool(Node{0}).query(call, std::move(query));
}

asio::awaitable<std::vector<Rows>> Database::write_reference(runtime::Call& call,
                                                             std::vector<Query> queries) {
    return state_->pool(Node{0}).atomically(call, std::move(queries));
}

bool Database::is_up() const {
    return std::ranges::all_of(state_->pools, [](const auto& pool) { return pool->is_up(); });
}

std::string Database::why_down() const {
    std::string reasons;
    for (std::uint32_t index = 0; index < state_->pools.size(); ++index) {
        const Pool& pool = *state_->pools[index];
        if (pool.is_up()) {
            continue;
        }
        if (!reasons.empty()) {
            reasons += "; ";
        }
        reasons += fmt::format("node {}: {}", state_->spec(Node{index}).name, pool.why_down());
    }
    return reasons;
}

asio::awaitable<void> Database::close(runtime::Call& call) {
    for (const auto& pool : state_->pools) {
        co_await pool->close(call);
    }
}

}  // namespace tenon::storage
