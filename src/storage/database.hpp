// The way to every row: by its bucket, to the node that owns it, behind the fence.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/slot.hpp"
#include "postgres/pool.hpp"
#include "runtime/core.hpp"
#include "storage/failure.hpp"
#include "storage/map.hpp"
#include "storage/merge.hpp"
#include "storage/reads.hpp"
#include "storage/references.hpp"

namespace tenon::storage {

/// Where a read may be answered (foundation 6). Every read names it. There are no replicas yet, so
/// the primary answers all of them.
enum class Policy { primary, session, bounded, any };

/// What a Database reaches beyond the nodes of its map.
struct ControlOptions {
    std::string conninfo;  ///< of the control database; empty: it is the map's first node
    ReferenceTables reference_tables;
};

/// One core's access to all nodes and to the control database.
///
/// Shape:   writes hold one lock per bucket until they end. A node's concurrent writes are at most
///          cores × (multiplexed + exclusive_max) of PoolOptions, each with up to 1,024 locks per
///          space, and must fit its lock table (check_lock_room in lock_room.hpp).
/// Expects: a span of buckets lives until the call is awaited; it is not read after that.
/// Threads: its core only.
/// Errors:  those of postgres::Pool, and BucketsMoved (storage.moved, a runtime::Unavailable) when
///          a bucket is not (active, epoch) at the node that the map names.
/// Cost:    read and write one round trip each.
class Database {
public:
    /// `pool`'s conninfo is ignored: each node has its own in the map.
    Database(runtime::Core& core, std::shared_ptr<const Map> map, const postgres::PoolOptions& pool,
             ControlOptions control = {}, ReadOptions reads = {});
    ~Database();
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    /// Goes by this map from now on. Expects: the nodes of the present one, in the same places.
    void set_map(std::shared_ptr<const Map> map);
    /// Refuses a node's buckets with `why` until it is released: its schema or its fences are not
    /// known to be right.
    void hold(Node node, std::string why);
    void release(Node node);
    [[nodiscard]] Node node_of(base::Bucket bucket) const;
    [[nodiscard]] std::size_t nodes_total() const;
    [[nodiscard]] const Map& map() const;
    [[nodiscard]] runtime::Core& core() const;

    /// One statement about one bucket.
    ///
    /// Shape: the bucket is confirmed after the statement, so what was read was owned here when the
    ///        statement took its snapshot.
    boost::asio::awaitable<postgres::Rows> read(runtime::Call& call, base::Bucket bucket,
                                                Policy policy, postgres::Query query);
    /// One statement about several buckets of one node. Expects: all on one node, not empty.
    boost::asio::awaitable<postgres::Rows> read(runtime::Call& call,
                                                std::span<const base::Bucket> buckets,
                                                Policy policy, postgres::Query query);
    /// tenon.enter(buckets, epochs), then the statements: one transaction, one round trip. Results
    /// are those of the statements, in order. Expects: all buckets on one node; not empty; sorted
    /// and folded here, callers need not.
    boost::asio::awaitable<std::vector<postgres::Rows>> write(runtime::Call& call,
                                                              std::span<const base::Bucket> buckets,
                                                              std::vector<postgres::Query> queries);
    /// A write transaction that reads before it decides; tenon.enter is its first statement.
    boost::asio::awaitable<postgres::Transaction> begin(runtime::Call& call,
                                                        std::span<const base::Bucket> buckets);
    /// Many keys, given by their buckets: grouped by node, one round trip for each node, all at
    /// once. Covers each bucket exactly once, or is asked again as ReadOptions says.
    ///
    /// Errors: those of postgres::Pool of the first node that fails; NotCovered.
    boost::asio::awaitable<std::vector<KeysPart>> each(runtime::Call& call,
                                                       std::vector<base::Bucket> keys,
                                                       Policy policy, AskKeys ask);
    /// One page over all nodes, for node-local indexes. Covers each bucket exactly once, or is
    /// asked again as ReadOptions says.
    ///
    /// Cost:   one round trip to every node at once, limit + 1 rows of each.
    /// Errors: as each.
    template <class Row>
    boost::asio::awaitable<Page<Row>> merge(runtime::Call& call, Policy policy,
                                            MergeOrder<Row> order);
    /// The loud one, for administration: a read of every node on connections of its own, so that it
    /// never stands in the way of a request. What is missing after the deadline or the last round
    /// is named in the answer instead of failing it.
    ///
    /// Shape:  on the primaries.
    /// Errors: Unavailable when ReadOptions::scatters_max run already; what the first node threw
    ///         when none answered.
    boost::asio::awaitable<Scattered> scatter(runtime::Call& call, AskNode ask);

    /// One statement about reference tables, of the copy on the first node that is up.
    boost::asio::awaitable<postgres::Rows> read_reference(runtime::Call& call,
                                                          postgres::Query query);
    /// Statements that change reference tables: one transaction in the control database. Answers
    /// when every node that can be reached has a copy.
    boost::asio::awaitable<std::vector<postgres::Rows>> write_reference(
        runtime::Call& call, std::vector<postgres::Query> queries);
    /// Brings the node's copies of the reference tables up to date.
    boost::asio::awaitable<void> refresh_references(runtime::Call& call, Node node);

    /// One statement in the control database.
    boost::asio::awaitable<postgres::Rows> ask_control(runtime::Call& call, postgres::Query query);
    /// One statement on one node that touches no bucket, such as the time on its clock.
    boost::asio::awaitable<postgres::Rows> ask_node(runtime::Call& call, Node node,
                                                    postgres::Query query);

    /// True while the node is up and not held; never waits.
    [[nodiscard]] bool is_up(Node node) const;
    /// Why it is not; empty when it is.
    [[nodiscard]] std::string why_down(Node node) const;
    [[nodiscard]] bool is_control_up() const;
    [[nodiscard]] std::string why_control_down() const;
    boost::asio::awaitable<void> close(runtime::Call& call);

private:
    boost::asio::awaitable<std::vector<postgres::Rows>> ask_nodes(runtime::Call& call,
                                                                  Policy policy, AskNode ask);

    struct State;
    std::unique_ptr<State> state_;
};

template <class Row>
boost::asio::awaitable<Page<Row>> Database::merge(runtime::Call& call, Policy policy,
                                                  MergeOrder<Row> order) {
    const auto parts = co_await ask_nodes(
        call, policy, [&order](const Owned& owned) { return order.ask(owned, order.limit + 1); });
    std::vector<std::vector<Row>> pages;
    pages.reserve(parts.size());
    for (const postgres::Rows& rows : parts) pages.push_back(rows.all<Row>());
    const auto limit = static_cast<std::size_t>(order.limit);
    Page<Row> page;
    page.rows = merge_pages(std::move(pages), limit + 1, order.before);
    page.has_more = page.rows.size() > limit;
    if (page.has_more) page.rows.pop_back();
    co_return page;
}

}  // namespace tenon::storage
