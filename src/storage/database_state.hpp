// What a Database holds; for its own sources alone.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/task_group.hpp"
#include "runtime/wait.hpp"
#include "storage/database.hpp"

namespace tenon::storage {

using PartsOfMap = std::shared_ptr<const std::vector<Owned>>;
using Pools = std::vector<std::unique_ptr<postgres::Pool>>;

/// The buckets of one transaction, sorted and folded, with their epochs and their node.
struct Passage {
    Node node;
    std::vector<base::Bucket> buckets;
    std::vector<std::int64_t> epochs;
};

/// What the nodes are asked for in one round, and each node's query.
struct Round {
    PartsOfMap asked;
    std::vector<postgres::Query> queries;  ///< by place in `asked`
    bool is_whole = true;                  ///< about all that the nodes have, not some buckets
};

/// What one node gave, or why it gave nothing.
struct PartAnswer {
    ServedPart served;
    postgres::Rows rows;
    std::exception_ptr failure;
};

/// The last round of a read.
struct RoundOutcome {
    Round round;
    std::vector<PartAnswer> answers;  ///< by place in round.asked
    Gaps gaps;

    /// Errors: what the first node that failed threw; NotCovered.
    void require_whole() const;
};

struct Database::State {
    State(runtime::Core& own_core, std::shared_ptr<const Map> own_map,
          const postgres::PoolOptions& pool, ControlOptions control, ReadOptions own_reads);

    void set_map(std::shared_ptr<const Map> next);
    [[nodiscard]] std::unique_ptr<postgres::Pool> open(const std::string& conninfo) const;
    postgres::Pool& control() { return own_control ? *own_control : *pools[control_node]; }
    bool is_control(Node node) const { return !own_control && control_node == node.index; }
    const Map::NodeSpec& spec(Node node) const { return map->nodes()[node.index]; }
    /// Errors: Unavailable while the node is held.
    void refuse_held(Node node) const;
    postgres::Pool& pool(Node node) {
        refuse_held(node);
        return *pools[node.index];
    }
    /// Those that scatters use, opened by the first.
    Pools& pools_of_scatters();

    /// Nodes by which reference tables are asked: those that are up first.
    std::vector<Node> nodes_to_ask() const;
    /// Brings the copies of every node that answers up to date.
    boost::asio::awaitable<void> copy_to_all(runtime::Call& call);
    boost::asio::awaitable<postgres::Rows> read(runtime::Call& call, Passage passage,
                                                postgres::Query query);
    /// Asks until every bucket is covered exactly once, a node fails or a bound is met.
    boost::asio::awaitable<RoundOutcome> ask_whole(runtime::Call& call, const Pools& of,
                                                   const std::function<Round()>& plan);
    /// A round over all nodes under the present map.
    [[nodiscard]] Round plan_nodes(const AskNode& ask) const;

    runtime::Core& core;
    postgres::PoolOptions options;
    ReadOptions reads;
    std::shared_ptr<const Map> map;
    PartsOfMap owned;                             ///< of the map
    runtime::Event map_changed;                   ///< set for a moment
    Pools pools;                                  ///< by node
    Pools scatter_pools;                          ///< by node; empty before the first scatter
    std::size_t scatters = 0;                     ///< that run
    std::vector<std::string> holds;               ///< by node: why it is held, else empty
    std::unique_ptr<postgres::Pool> own_control;  ///< null when a node is the control database
    std::size_t control_node = 0;                 ///< that node
    ReferenceTables reference_tables;

private:
    boost::asio::awaitable<void> copy_to(runtime::Call& call, Node node);
    boost::asio::awaitable<void> ask_part(runtime::Call& call, const Pools& of, const Round& round,
                                          std::size_t at, PartAnswer& answer);
    boost::asio::awaitable<std::vector<PartAnswer>> ask_all(runtime::Call& call, const Pools& of,
                                                            const Round& round);
    boost::asio::awaitable<void> wait_for_map(std::chrono::milliseconds pause);
};

}  // namespace tenon::storage
