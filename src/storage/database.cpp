#include "storage/database.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <iterator>
#include <utility>

#include "base/assert.hpp"
#include "runtime/log.hpp"
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

// How long a change of reference tables waits for a node that is up but slow.
constexpr std::chrono::seconds copy_limit{2};

}  // namespace

struct Database::State {
    State(runtime::Core& own_core, std::shared_ptr<const Map> own_map)
        : core(own_core), map(std::move(own_map)) {}

    runtime::Core& core;
    std::shared_ptr<const Map> map;
    std::vector<std::unique_ptr<Pool>> pools;  ///< by node
    std::vector<std::string> holds;            ///< by node: why it is held; empty when it is not
    std::unique_ptr<Pool> own_control;         ///< null when a node is the control database
    std::size_t control_node = 0;              ///< that node
    ReferenceTables reference_tables;

    Pool& control() { return own_control ? *own_control : *pools[control_node]; }
    bool is_control(Node node) const { return !own_control && control_node == node.index; }
    const Map::NodeSpec& spec(Node node) const { return map->nodes()[node.index]; }

    Pool& pool(Node node) {
        if (!holds[node.index].empty()) {
            throw runtime::Unavailable(holds[node.index], std::chrono::seconds(1));
        }
        return *pools[node.index];
    }

    /// Nodes by which reference tables are asked: those that are up first.
    std::vector<Node> nodes_to_ask() const {
        std::vector<Node> nodes;
        std::vector<Node> others;
        for (std::uint32_t index = 0; index < pools.size(); ++index) {
            if (!holds[index].empty()) continue;
            (pools[index]->is_up() ? nodes : others).push_back({index});
        }
        nodes.insert(nodes.end(), others.begin(), others.end());
        return nodes;
    }

    asio::awaitable<void> copy_to(runtime::Call& call, Node node) {
        try {
            co_await copy_references(call, reference_tables, control(), *pools[node.index]);
        } catch (const runtime::Failure& failure) {
            // The node's watcher tries again; whoever wrote has written.
            runtime::log(runtime::Level::info, "reference tables were not copied to a node",
                         {{"node", spec(node).name}, {"reason", failure.what()}});
        }
    }

    asio::awaitable<void> copy_to_all(runtime::Call& call) {
        runtime::Call copying = call;
        copying.deadline = std::min(call.deadline, std::chrono::steady_clock::now() + copy_limit);
        runtime::TaskGroup nodes(core.io());
        for (std::uint32_t index = 0; index < pools.size(); ++index) {
            const Node node{index};
            // One that is away refuses at once; one that was never asked is waited for.
            if (is_control(node)) continue;
            nodes.spawn("storage.copy_references", copy_to(copying, node));
        }
        co_await nodes.join_fully();
    }

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
                   const postgres::PoolOptions& pool, ControlOptions control)
    : state_(std::make_unique<State>(core, std::move(map))) {
    const auto open = [&](const std::string& conninfo) {
        postgres::PoolOptions options = pool;
        options.conninfo = conninfo;
        return std::make_unique<Pool>(core, std::move(options));
    };
    const auto& nodes = state_->map->nodes();
    for (const Map::NodeSpec& node : nodes) {
        state_->pools.push_back(open(node.conninfo));
    }
    state_->holds.resize(nodes.size());
    state_->reference_tables = std::move(control.reference_tables);
    if (control.conninfo.empty()) return;
    const auto same = std::ranges::find(nodes, control.conninfo, &Map::NodeSpec::conninfo);
    if (same == nodes.end()) {
        state_->own_control = open(control.conninfo);
    } else {
        state_->control_node = static_cast<std::size_t>(same - nodes.begin());
    }
}

void Database::set_map(std::shared_ptr<const Map> map) {
    const auto name = [](const Map::NodeSpec& node) { return node.name; };
    TENON_ASSERT(std::ranges::equal(map->nodes(), state_->map->nodes(), {}, name, name));
    state_->map = std::move(map);
}

void Database::hold(Node node, std::string why) {
    TENON_ASSERT(!why.empty());
    state_->holds[node.index] = std::move(why);
}

void Database::release(Node node) {
    state_->holds[node.index].clear();
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
    std::exception_ptr last;
    for (const Node node : state_->nodes_to_ask()) {
        try {
            co_return co_await state_->pool(node).query(call, query);
        } catch (const runtime::Unavailable&) {
            last = std::current_exception();
        }
    }
    if (last) std::rethrow_exception(last);
    throw runtime::Unavailable("every node is held back: see /readyz", std::chrono::seconds(1));
}

asio::awaitable<std::vector<Rows>> Database::write_reference(runtime::Call& call,
                                                             std::vector<Query> queries) {
    auto results = co_await state_->control().atomically(call, std::move(queries));
    co_await state_->copy_to_all(call);
    co_return results;
}

asio::awaitable<void> Database::refresh_references(runtime::Call& call, Node node) {
    if (state_->is_control(node)) co_return;
    co_await copy_references(call, state_->reference_tables, state_->control(),
                             *state_->pools[node.index]);
}

asio::awaitable<Rows> Database::ask_control(runtime::Call& call, Query query) {
    return state_->control().query(call, std::move(query));
}

asio::awaitable<Rows> Database::ask_node(runtime::Call& call, Node node, Query query) {
    return state_->pools[node.index]->query(call, std::move(query));
}

bool Database::is_up(Node node) const {
    return state_->holds[node.index].empty() && state_->pools[node.index]->is_up();
}

std::string Database::why_down(Node node) const {
    const std::string& hold = state_->holds[node.index];
    return hold.empty() ? state_->pools[node.index]->why_down() : hold;
}

bool Database::is_control_up() const {
    return state_->control().is_up();
}

std::string Database::why_control_down() const {
    return state_->control().why_down();
}

asio::awaitable<void> Database::close(runtime::Call& call) {
    if (state_->own_control) co_await state_->own_control->close(call);
    for (const auto& pool : state_->pools) {
        co_await pool->close(call);
    }
}

}  // namespace tenon::storage
