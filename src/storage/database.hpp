// The way to every row: by its bucket, to the node that owns it, behind the fence.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/slot.hpp"
#include "postgres/pool.hpp"
#include "runtime/core.hpp"
#include "storage/map.hpp"

namespace tenon::storage {

/// Where a read may be answered (foundation 6). Every read names it.
enum class Policy { primary, session, bounded, any };

/// One core's access to all nodes.
///
/// Threads: its core only.
/// Errors:  those of postgres::Pool, and storage.moved as runtime::Unavailable when a bucket is
///          not (active, epoch) at the node that the map names.
/// Cost:    read and write one round trip each.
class Database {
public:
    Database(runtime::Core& core, std::shared_ptr<const Map> map,
             const postgres::PoolOptions& pool);
    ~Database();

    [[nodiscard]] Node node_of(base::Bucket bucket) const;
    [[nodiscard]] std::size_t nodes_total() const;

    /// One statement about one bucket.
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
    /// The same statement on every node, for node-local indexes; one Rows per node.
    boost::asio::awaitable<std::vector<postgres::Rows>> on_every_node(runtime::Call& call,
                                                                      Policy policy,
                                                                      postgres::Query query);
    [[nodiscard]] bool is_up() const;
    [[nodiscard]] std::string why_down() const;
    boost::asio::awaitable<void> close(runtime::Call& call);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace tenon::storage
