// Reads over two nodes, whole and while a bucket moves between their snapshots.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "runtime/task_group.hpp"
#include "storage/test_shop.hpp"
#include "storage/test_store.hpp"

namespace tenon::storage {
namespace {

using boost::asio::awaitable;
using postgres::Parameters;
using postgres::Query;
using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;

struct Item {
    base::Bucket bucket;
    std::int32_t id = 0;
    auto operator<=>(const Item&) const = default;
};
BOOST_DESCRIBE_STRUCT(Item, (), (bucket, id))

constexpr postgres::Statement list_items{
    "SELECT bucket, id FROM shop.item "
    "WHERE CASE WHEN bucket < 8 * length($1::bytea) THEN get_bit($1, bucket) = 1 END "
    "AND id > $3 ORDER BY id, bucket LIMIT $2"};
constexpr postgres::Statement find_items{
    "SELECT bucket, id FROM shop.item WHERE bucket = ANY ($1::integer[]) ORDER BY id"};

/// Patient with locks, which tests hold while they look around.
postgres::PoolOptions patient() {
    postgres::PoolOptions options;
    options.lock_timeout = std::chrono::seconds(60);
    options.statement_timeout = std::chrono::seconds(60);
    return options;
}

class Reads : public testing::Test {
protected:
    explicit Reads(ReadOptions reads = {}) : store_(shop_files(), 2, patient(), {}, reads) {}

    Query ask(const Owned& owned, std::int32_t rows_max, std::int32_t after = 0) {
        ++asked_;
        return {.statement = list_items,
                .parameters = Parameters::of(owned.bits, std::int64_t{rows_max}, after)};
    }
    MergeOrder<Item> order(std::int32_t limit, std::int32_t after = 0) {
        return {.limit = limit,
                .ask = [this, after](const Owned& owned,
                                     std::int32_t rows_max) { return ask(owned, rows_max, after); },
                .before =
                    [](const Item& left, const Item& right) {
                        return std::tie(left.id, left.bucket) < std::tie(right.id, right.bucket);
                    }};
    }
    Page<Item> merge(std::int32_t limit, std::int32_t after = 0) {
        auto call = store_.host.call();
        return store_.host.run(
            store_.database->merge<Item>(call, Policy::primary, order(limit, after)));
    }
    std::exception_ptr merge_failure() {
        auto call = store_.host.call();
        return store_.host.run(
            runtime::failure_of(store_.database->merge<Item>(call, Policy::primary, order(10))));
    }
    AskNode ask_all() {
        return [this](const Owned& owned) { return ask(owned, 1'000); };
    }
    Scattered scatter() {
        auto call = store_.host.call();
        return store_.host.run(store_.database->scatter(call, ask_all()));
    }

    void insert(std::size_t node, const std::string& rows) {
        store_.script("INSERT INTO shop.item VALUES " + rows, node);
    }
    /// Bucket 0 goes from node 0 to node 1 with its rows, as a move leaves it at its end: what was
    /// copied stays behind until it is cleaned up. Row (0, 9) is written at the target.
    void move_bucket() {
        store_.script(
            "UPDATE tenon.fences SET state = 'moved', target = 'b', epoch = 2 WHERE bucket = 0", 0);
        store_.script(
            "INSERT INTO tenon.fences VALUES (0, 'active', 2, tenon.timeline()); "
            "INSERT INTO shop.item VALUES (0, 1), (0, 9)",
            1);
    }
    /// The map after move_bucket.
    [[nodiscard]] std::shared_ptr<const Map> moved_map() const {
        std::vector<Map::Place> places;
        for (std::int32_t bucket = 0; bucket < 1'024; ++bucket) {
            places.push_back(store_.map->place_of({bucket}));
        }
        places[0] = {.node = {1}, .epoch = 2};
        return std::make_shared<const Map>(Map::of(store_.map->nodes(), std::move(places)));
    }
    void turn_until(const std::function<bool()>& happened) {
        auto pauser = store_.nodes[0].connect();
        while (!happened()) {
            store_.host.turn();
            pauser.idle(milliseconds(1));
        }
    }
    bool waits_for_lock(std::size_t node) {
        return store_.value(
                   "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND "
                   "datname = current_database()",
                   node) != "0";
    }
    /// True when the node has told what it served.
    bool has_answered(std::size_t node) {
        return store_.value(
                   "SELECT count(*) FROM pg_stat_activity WHERE state = 'idle' AND "
                   "query LIKE '%SELECT total, digest%' AND datname = current_database()",
                   node) != "0";
    }

    TestStore store_;
    int asked_ = 0;  ///< queries of nodes
};

/// What a read that runs beside the test gave.
struct Outcome {
    std::optional<Page<Item>> page;
    std::exception_ptr failure;
};

awaitable<void> merge_into(Database& database, runtime::Call call, MergeOrder<Item> order,
                           Outcome& outcome) {
    try {
        outcome.page = co_await database.merge<Item>(call, Policy::primary, std::move(order));
    } catch (const runtime::Failure&) {
        outcome.failure = std::current_exception();
    }
}

TEST_F(Reads, APageIsMergedFromAllNodesAndSaysWhetherThereIsMore) {
    insert(0, "(0, 1), (2, 4), (4, 5)");
    insert(1, "(1, 2), (3, 3), (5, 5)");
    const auto first = merge(3);
    EXPECT_THAT(first.rows, ElementsAre(Item{{0}, 1}, Item{{1}, 2}, Item{{3}, 3}));
    EXPECT_TRUE(first.has_more);
    const auto second = merge(3, 3);
    EXPECT_THAT(second.rows, ElementsAre(Item{{2}, 4}, Item{{4}, 5}, Item{{5}, 5}));
    EXPECT_FALSE(second.has_more);
    EXPECT_EQ(asked_, 4);
}

TEST_F(Reads, WhatLiesOnANodeThatDoesNotOwnItIsLeftOut) {
    insert(0, "(0, 1), (5000, 1)");
    insert(1, "(0, 1), (1, 2), (1026, 3)");
    EXPECT_THAT(merge(10).rows, ElementsAre(Item{{0}, 1}, Item{{1}, 2}));
}

/// A merge during which bucket 0 moves while the part of one node waits.
class Moves : public Reads {
protected:
    Page<Item> merge_while_moving(std::size_t waiting) {
        insert(0, "(0, 1), (2, 2)");
        insert(1, "(1, 3)");
        runtime::TaskGroup tasks(store_.host.core.io());
        Outcome outcome;
        auto holder = store_.nodes[waiting].connect();
        holder.run("BEGIN; LOCK TABLE shop.item IN ACCESS EXCLUSIVE MODE");
        tasks.spawn("merge", merge_into(*store_.database, store_.host.call(), order(10), outcome));
        turn_until([&] { return waits_for_lock(waiting) && has_answered(1 - waiting); });
        if (waiting == 1) {
            holder.run("INSERT INTO shop.item VALUES (0, 1), (0, 9)");
            store_.script("INSERT INTO tenon.fences VALUES (0, 'active', 2, tenon.timeline())", 1);
            store_.script(
                "UPDATE tenon.fences SET state = 'moved', target = 'b', epoch = 2 "
                "WHERE bucket = 0");
        } else {
            move_bucket();
        }
        store_.database->set_map(moved_map());
        holder.run("COMMIT");
        store_.host.run(tasks.join());
        if (outcome.failure) std::rethrow_exception(outcome.failure);
        return *outcome.page;
    }
};

TEST_F(Moves, ABucketThatNoSnapshotHasIsAskedForAgain) {
    // Node 1 answered before the move, node 0 after it.
    EXPECT_THAT(merge_while_moving(0).rows,
                ElementsAre(Item{{0}, 1}, Item{{2}, 2}, Item{{1}, 3}, Item{{0}, 9}));
    EXPECT_EQ(asked_, 4);
}

TEST_F(Moves, ABucketThatTwoSnapshotsHaveIsAskedForAgain) {
    // Node 0 answered before the move, node 1 after it.
    EXPECT_THAT(merge_while_moving(1).rows,
                ElementsAre(Item{{0}, 1}, Item{{2}, 2}, Item{{1}, 3}, Item{{0}, 9}));
    EXPECT_EQ(asked_, 4);
}

class Refused : public Reads {
protected:
    Refused() : Reads({.rounds_max = 3, .pause = milliseconds(1)}) {}
    Gaps refused_gaps() {
        try {
            std::rethrow_exception(merge_failure());
        } catch (const NotCovered& refused) {
            EXPECT_EQ(refused.retry_after(), std::chrono::seconds(1));
            return refused.gaps();
        }
    }
};

TEST_F(Refused, AnotherEpochThanTheMapsAfterTheLastRound) {
    store_.script("UPDATE tenon.fences SET epoch = 2 WHERE bucket IN (3, 5)", 1);
    EXPECT_THAT(refused_gaps().differing, ElementsAre(base::Bucket{3}, base::Bucket{5}));
    EXPECT_EQ(asked_, 6);  // both nodes, in each of three rounds
}

TEST_F(Refused, ABucketThatTwoNodesServe) {
    store_.script("INSERT INTO tenon.fences VALUES (4, 'active', 1, tenon.timeline())", 1);
    EXPECT_THAT(refused_gaps().repeated, ElementsAre(base::Bucket{4}));
}

TEST_F(Refused, ABucketThatNoNodeServes) {
    store_.script("DELETE FROM tenon.fences WHERE bucket = 4");
    EXPECT_THAT(refused_gaps().missing, ElementsAre(base::Bucket{4}));
}

TEST_F(Refused, ANodeThatFailsFailsThePageAtOnce) {
    store_.database->hold(Node{1}, "its schema is not known");
    EXPECT_TRUE(runtime::is_a<runtime::Unavailable>(merge_failure()));
    EXPECT_EQ(asked_, 2);
}

TEST_F(Refused, AReadOnlyBucketIsRead) {
    store_.script("UPDATE tenon.fences SET state = 'read_only' WHERE bucket = 2");
    insert(0, "(2, 1)");
    EXPECT_THAT(merge(10).rows, ElementsAre(Item{{2}, 1}));
}

/// Items of keys, by the key's place, each asked for by its bucket.
class ManyKeys : public Reads {
protected:
    ManyKeys() : Reads({.rounds_max = 2, .pause = std::chrono::seconds(10)}) {}
    AskKeys ask_for(const std::vector<base::Bucket>& keys) {
        return [this, &keys](std::span<const std::size_t> places) {
            ++asked_;
            std::vector<base::Bucket> buckets;
            for (const std::size_t place : places) buckets.push_back(keys[place]);
            return Query{.statement = find_items, .parameters = Parameters::of(buckets)};
        };
    }
};

TEST_F(ManyKeys, AreGroupedByNodeWithOneQueryEach) {
    insert(0, "(0, 1), (2, 2), (4, 8)");
    insert(1, "(1, 3), (0, 9)");
    const std::vector<base::Bucket> keys{{2}, {1}, {0}, {2}, {3}};
    auto call = store_.host.call();
    const auto parts =
        store_.host.run(store_.database->each(call, keys, Policy::primary, ask_for(keys)));
    ASSERT_EQ(parts.size(), 2U);
    EXPECT_EQ(asked_, 2);
    EXPECT_THAT(parts[0].keys, ElementsAre(0, 2, 3));
    EXPECT_THAT(parts[0].rows.all<Item>(), ElementsAre(Item{{0}, 1}, Item{{2}, 2}));
    EXPECT_THAT(parts[1].keys, ElementsAre(1, 4));
    EXPECT_THAT(parts[1].rows.all<Item>(), ElementsAre(Item{{1}, 3}));
}

TEST_F(ManyKeys, OfNoBucketAskNobody) {
    const std::vector<base::Bucket> none;
    auto call = store_.host.call();
    EXPECT_TRUE(
        store_.host.run(store_.database->each(call, none, Policy::primary, ask_for(none))).empty());
    EXPECT_EQ(asked_, 0);
}

awaitable<void> each_into(Database& database, runtime::Call call, std::vector<base::Bucket> keys,
                          AskKeys ask, std::vector<KeysPart>& parts) {
    parts = co_await database.each(call, std::move(keys), Policy::primary, std::move(ask));
}

TEST_F(ManyKeys, FollowTheirBucketAsSoonAsThereIsANewMap) {
    insert(0, "(0, 1), (2, 2)");
    move_bucket();
    const std::vector<base::Bucket> keys{{0}, {2}};
    std::vector<KeysPart> parts;
    runtime::TaskGroup tasks(store_.host.core.io());
    tasks.spawn("each",
                each_into(*store_.database, store_.host.call(), keys, ask_for(keys), parts));
    turn_until([&] { return has_answered(0); });
    store_.host.turn();
    store_.database->set_map(moved_map());
    store_.host.run(tasks.join());
    ASSERT_EQ(parts.size(), 2U);
    EXPECT_THAT(parts[0].rows.all<Item>(), ElementsAre(Item{{2}, 2}));
    EXPECT_THAT(parts[1].rows.all<Item>(), ElementsAre(Item{{0}, 1}, Item{{0}, 9}));
}

class Scatters : public Reads {
protected:
    Scatters()
        : Reads({.rounds_max = 2,
                 .pause = milliseconds(1),
                 .scatter_limit = std::chrono::seconds(2),
                 .scatters_max = 1}) {}
    std::vector<Item> items_of(const Scattered& scattered) {
        std::vector<Item> all;
        for (const auto& rows : scattered.parts) {
            for (const Item& item : rows.all<Item>()) all.push_back(item);
        }
        return all;
    }
};

TEST_F(Scatters, GiveThePartOfEveryNode) {
    insert(0, "(0, 1), (1, 7)");
    insert(1, "(1, 2)");
    const auto whole = scatter();
    EXPECT_FALSE(whole.is_partial());
    EXPECT_THAT(items_of(whole), ElementsAre(Item{{0}, 1}, Item{{1}, 2}));
}

TEST_F(Scatters, GoOnWithoutANodeThatIsHeldAndNameItAndItsBuckets) {
    insert(0, "(0, 1)");
    store_.database->hold(Node{1}, "its schema is not known");
    const auto partial = scatter();
    EXPECT_TRUE(partial.is_partial());
    EXPECT_THAT(items_of(partial), ElementsAre(Item{{0}, 1}));
    ASSERT_EQ(partial.silent.size(), 1U);
    EXPECT_EQ(partial.silent[0].node, store_.map->nodes()[1].name);
    EXPECT_EQ(partial.silent[0].why, "its schema is not known");
    EXPECT_EQ(partial.missing, store_.map->buckets_of(Node{1}));
}

TEST_F(Scatters, NameTheBucketsThatAreNotServedUnderTheMap) {
    store_.script("UPDATE tenon.fences SET epoch = 2 WHERE bucket = 6");
    const auto partial = scatter();
    EXPECT_TRUE(partial.is_partial());
    EXPECT_TRUE(partial.silent.empty());
    EXPECT_THAT(partial.missing, ElementsAre(base::Bucket{6}));
    EXPECT_EQ(asked_, 4);
}

awaitable<void> scatter_into(Database& database, runtime::Call call, AskNode ask,
                             std::optional<Scattered>& out) {
    out = co_await database.scatter(call, std::move(ask));
}

TEST_F(Scatters, LeaveASlowNodeBehindAndRefuseOneTooMany) {
    insert(0, "(0, 1)");
    EXPECT_FALSE(scatter().is_partial());  // connected from here on
    auto holder = store_.nodes[1].connect();
    holder.run("BEGIN; LOCK TABLE shop.item IN ACCESS EXCLUSIVE MODE");
    std::optional<Scattered> slow;
    runtime::TaskGroup tasks(store_.host.core.io());
    tasks.spawn("scatter", scatter_into(*store_.database, store_.host.call(), ask_all(), slow));
    turn_until([&] { return waits_for_lock(1); });
    auto call = store_.host.call();
    EXPECT_TRUE(runtime::is_a<runtime::Unavailable>(
        store_.host.run(runtime::failure_of(store_.database->scatter(call, ask_all())))));
    store_.host.run(tasks.join());
    holder.run("ROLLBACK");
    ASSERT_TRUE(slow);
    EXPECT_THAT(items_of(*slow), ElementsAre(Item{{0}, 1}));
    ASSERT_EQ(slow->silent.size(), 1U);
    EXPECT_EQ(slow->silent[0].node, store_.map->nodes()[1].name);
    EXPECT_EQ(slow->missing.size(), 512U);
}

TEST_F(Scatters, ThatNobodyAnswersFail) {
    store_.database->hold(Node{0}, "first");
    store_.database->hold(Node{1}, "second");
    auto call = store_.host.call();
    EXPECT_TRUE(runtime::is_a<runtime::Unavailable>(
        store_.host.run(runtime::failure_of(store_.database->scatter(call, ask_all())))));
    store_.database->release(Node{0});
    store_.database->release(Node{1});
    EXPECT_FALSE(scatter().is_partial());  // and the bound counts what runs only
}

}  // namespace
}  // namespace tenon::storage
