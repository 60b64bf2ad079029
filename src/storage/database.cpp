#include <algorithm>
#include <cstdint>
#include <exception>
#include <iterator>
#include <utility>

#include "base/assert.hpp"
#include "runtime/log.hpp"
#include "storage/database_state.hpp"

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

Parameters parameters_of(const Passage& passage) {
    return Parameters::of(passage.buckets, passage.epochs);
}

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

Database::State::State(runtime::Core& own_core, std::shared_ptr<const Map> own_map,
                       const postgres::PoolOptions& pool, ControlOptions control,
                       ReadOptions own_reads)
    : core(own_core),
      options(pool),
      reads(own_reads),
      map_changed(own_core.io()),
      reference_tables(std::move(control.reference_tables)) {
    set_map(std::move(own_map));
    const auto& nodes = map->nodes();
    for (const Map::NodeSpec& node : nodes) pools.push_back(open(node.conninfo));
    holds.resize(nodes.size());
    if (control.conninfo.empty()) return;
    const auto same = std::ranges::find(nodes, control.conninfo, &Map::NodeSpec::conninfo);
    if (same == nodes.end()) {
        own_control = open(control.conninfo);
    } else {
        control_node = static_cast<std::size_t>(same - nodes.begin());
    }
}

void Database::State::set_map(std::shared_ptr<const Map> next) {
    map = std::move(next);
    owned = std::make_shared<const std::vector<Owned>>(owned_by_nodes(*map));
    map_changed.set();
    map_changed.reset();
}

std::unique_ptr<Pool> Database::State::open(const std::string& conninfo) const {
    postgres::PoolOptions own = options;
    own.conninfo = conninfo;
    return std::make_unique<Pool>(core, std::move(own));
}

void Database::State::refuse_held(Node node) const {
    if (!holds[node.index].empty()) {
        throw runtime::Unavailable(holds[node.index], std::chrono::seconds(1));
    }
}

Pools& Database::State::pools_of_scatters() {
    while (scatter_pools.size() < pools.size()) {
        postgres::PoolOptions small = options;
        small.conninfo = map->nodes()[scatter_pools.size()].conninfo;
        small.multiplexed = 1;
        small.statement_timeout = reads.scatter_limit;
        scatter_pools.push_back(std::make_unique<Pool>(core, std::move(small)));
    }
    return scatter_pools;
}

std::vector<Node> Database::State::nodes_to_ask() const {
    std::vector<Node> nodes;
    std::vector<Node> others;
    for (std::uint32_t index = 0; index < pools.size(); ++index) {
        if (!holds[index].empty()) continue;
        (pools[index]->is_up() ? nodes : others).push_back({index});
    }
    nodes.insert(nodes.end(), others.begin(), others.end());
    return nodes;
}

asio::awaitable<void> Database::State::copy_to(runtime::Call& call, Node node) {
    try {
        co_await copy_references(call, reference_tables, control(), *pools[node.index]);
    } catch (const runtime::Failure& failure) {
        // The node's watcher tries again; whoever wrote has written.
        runtime::log(runtime::Level::info, "reference tables were not copied to a node",
                     {{"node", spec(node).name}, {"reason", failure.what()}});
    }
}

asio::awaitable<void> Database::State::copy_to_all(runtime::Call& call) {
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

asio::awaitable<Rows> Database::State::read(runtime::Call& call, Passage passage, Query query) {
    query.writes = false;
    std::vector<Query> queries;
    queries.push_back(std::move(query));
    queries.push_back(
        {.statement = confirm, .parameters = parameters_of(passage), .writes = false});
    try {
        auto results = co_await pool(passage.node).atomically(call, std::move(queries));
        co_return std::move(results.front());
    } catch (const postgres::QueryFailed& failure) {
        rethrow(failure, spec(passage.node));
    }
}

Database::Database(runtime::Core& core, std::shared_ptr<const Map> map,
                   const postgres::PoolOptions& pool, ControlOptions control, ReadOptions reads)
    : state_(std::make_unique<State>(core, std::move(map), pool, std::move(control), reads)) {}

void Database::set_map(std::shared_ptr<const Map> map) {
    TENON_ASSERT(names_same_nodes(*map, *state_->map));
    state_->set_map(std::move(map));
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
    queries.insert(queries.begin(),
                   Query{.statement = enter, .parameters = parameters_of(passage)});
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
        co_await transaction.query(call,
                                   {.statement = enter, .parameters = parameters_of(passage)});
    } catch (const postgres::QueryFailed& failure) {
        rethrow(failure, state_->spec(passage.node));
    }
    co_return transaction;
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
    for (const auto* pools : {&state_->pools, &state_->scatter_pools}) {
        for (const auto& pool : *pools) co_await pool->close(call);
    }
}

}  // namespace tenon::storage
