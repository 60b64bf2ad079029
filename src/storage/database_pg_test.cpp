#include "storage/database.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "storage/test_shop.hpp"
#include "storage/test_store.hpp"

namespace tenon::storage {
namespace {

using postgres::Parameters;
using postgres::Query;
using postgres::Rows;

constexpr postgres::Statement insert_item{
    "INSERT INTO shop.item SELECT b, $2::integer, 'a' FROM unnest($1::integer[]) AS b"};
constexpr postgres::Statement list_items{"SELECT bucket, id FROM shop.item ORDER BY bucket, id"};

std::vector<Query> insert(std::vector<base::Bucket> buckets, std::int32_t id) {
    std::vector<Query> queries;
    queries.push_back({.statement = insert_item, .parameters = Parameters::of(buckets, id)});
    return queries;
}

class Stored : public testing::Test {
protected:
    std::vector<Rows> write(const std::vector<base::Bucket>& buckets, std::vector<Query> queries) {
        runtime::Call call = store_.host.call();
        return store_.host.run(store_.database->write(call, buckets, std::move(queries)));
    }
    std::vector<base::Bucket> moved(const std::vector<base::Bucket>& buckets) {
        try {
            write(buckets, insert(buckets, 1));
        } catch (const BucketsMoved& failure) {
            return failure.buckets();
        }
        return {};
    }

    TestStore store_{shop_files()};
};

TEST_F(Stored, WritesAndReadsInOneTripEach) {
    const std::vector<base::Bucket> buckets{{9}, {3}, {9}};
    auto queries = insert({{3}}, 1);
    queries.push_back({.statement = list_items, .parameters = {}});
    const auto results = write(buckets, std::move(queries));
    ASSERT_EQ(results.size(), 2U);
    EXPECT_EQ(results[0].affected(), 1U);
    EXPECT_EQ(results[1].size(), 1U);
    runtime::Call call = store_.host.call();
    const Rows rows = store_.host.run(store_.database->read(
        call, base::Bucket{3}, Policy::primary, {.statement = list_items, .parameters = {}}));
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows.value<std::int32_t>(0, 0), 3);
}

TEST_F(Stored, AWriteBehindAFenceThatMovedLeavesNothing) {
    store_.script("UPDATE tenon.fences SET epoch = 2 WHERE bucket IN (4, 6)");
    EXPECT_EQ(moved({{6}, {5}, {4}}), (std::vector<base::Bucket>{{4}, {6}}));
    EXPECT_EQ(store_.value("SELECT count(*) FROM shop.item"), "0");
    EXPECT_TRUE(moved({{5}}).empty());
}

TEST_F(Stored, AReadOfAMovedBucketIsRefused) {
    store_.script("UPDATE tenon.fences SET state = 'moved', target = 'b' WHERE bucket = 4");
    runtime::Call call = store_.host.call();
    const auto failure = store_.host.run(runtime::failure_of(store_.database->read(
        call, base::Bucket{4}, Policy::primary, {.statement = list_items, .parameters = {}})));
    EXPECT_TRUE(runtime::is_a<BucketsMoved>(failure));
}

TEST_F(Stored, AnItemAtFaultIsReportedAsItself) {
    write({{1}}, insert({{1}}, 1));
    runtime::Call call = store_.host.call();
    const std::vector<base::Bucket> buckets{{1}};
    const auto failure = store_.host.run(
        runtime::failure_of(store_.database->write(call, buckets, insert({{1}}, 1))));
    ASSERT_TRUE(runtime::is_a<postgres::QueryFailed>(failure));
}

boost::asio::awaitable<std::size_t> decide_and_write(Database& database, runtime::Call& call,
                                                     const std::vector<base::Bucket>& buckets) {
    auto transaction = co_await database.begin(call, buckets);
    const Rows before =
        co_await transaction.query(call, {.statement = list_items, .parameters = {}});
    co_await transaction.query(
        call, {.statement = insert_item, .parameters = Parameters::of(buckets, std::int32_t{5})});
    co_await transaction.commit(call);
    co_return before.size();
}

TEST_F(Stored, ATransactionEntersFirst) {
    runtime::Call call = store_.host.call();
    const std::vector<base::Bucket> buckets{{2}, {1}};
    EXPECT_EQ(store_.host.run(decide_and_write(*store_.database, call, buckets)), 0U);
    EXPECT_EQ(store_.value("SELECT count(*) FROM shop.item"), "2");
    store_.script("UPDATE tenon.fences SET state = 'read_only' WHERE bucket = 2");
    const auto failure =
        store_.host.run(runtime::failure_of(decide_and_write(*store_.database, call, buckets)));
    EXPECT_TRUE(runtime::is_a<BucketsMoved>(failure));
}

TEST_F(Stored, ReferenceTablesNeedNoBucket) {
    store_.script("CREATE TABLE shop.currency (name text PRIMARY KEY)");
    runtime::Call call = store_.host.call();
    std::vector<Query> queries;
    queries.push_back(
        {.statement = {"INSERT INTO shop.currency VALUES ('EUR')"}, .parameters = {}});
    store_.host.run(store_.database->write_reference(call, std::move(queries)));
    const Rows rows = store_.host.run(store_.database->read_reference(
        call, {.statement = {"SELECT name FROM shop.currency"}, .parameters = {}}));
    EXPECT_EQ(rows.value<std::string>(0, 0), "EUR");
}

class ThreeNodes : public testing::Test {
protected:
    TestStore store_{shop_files(), 3};
};

TEST_F(ThreeNodes, EachBucketIsWrittenWhereTheMapSays) {
    runtime::Call call = store_.host.call();
    for (const base::Bucket bucket : {base::Bucket{0}, base::Bucket{1}, base::Bucket{5}}) {
        const std::vector<base::Bucket> one{bucket};
        store_.host.run(store_.database->write(call, one, insert(one, 1)));
    }
    EXPECT_EQ(store_.value("SELECT bucket FROM shop.item", 0), "0");
    EXPECT_EQ(store_.value("SELECT bucket FROM shop.item", 1), "1");
    EXPECT_EQ(store_.value("SELECT bucket FROM shop.item", 2), "5");
}

TEST_F(Stored, AHeldNodeIsRefusedWithItsReasonUntilItIsReleased) {
    store_.database->hold(Node{0}, "its schema is not known");
    EXPECT_FALSE(store_.database->is_up(Node{0}));
    EXPECT_EQ(store_.database->why_down(Node{0}), "its schema is not known");
    EXPECT_THROW(write({{1}}, insert({{1}}, 1)), runtime::Unavailable);
    store_.database->release(Node{0});
    write({{1}}, insert({{1}}, 1));
}

TEST_F(Stored, ANewMapIsUsedFromTheNextCallOn) {
    store_.script("UPDATE tenon.fences SET epoch = 2");
    EXPECT_EQ(moved({{1}}), (std::vector<base::Bucket>{{1}}));
    std::vector<Map::Place> places(base::slots_total, {.node = {0}, .epoch = 2});
    store_.database->set_map(
        std::make_shared<const Map>(Map::of(store_.map->nodes(), std::move(places))));
    EXPECT_TRUE(moved({{1}}).empty());
}

}  // namespace
}  // namespace tenon::storage
