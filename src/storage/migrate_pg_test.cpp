#include "storage/migrate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <string>
#include <vector>

#include "storage/catalog.hpp"
#include "storage/errors.hpp"
#include "storage/fences.hpp"
#include "storage/test_database.hpp"

namespace tenon::storage {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

Migration file(int number, std::string_view sql, std::string_view room = "shop") {
    return {.room = room, .number = number, .name = "step", .sql = sql};
}

constexpr std::string_view make_shop =
    "CREATE SCHEMA shop; CREATE TABLE shop.item (bucket integer, id integer, name text, "
    "PRIMARY KEY (bucket, id));";

class Migrate : public testing::Test {
protected:
    base::Result<std::vector<AppliedMigration>> run(const std::vector<Migration>& files,
                                                    const MigrateOptions& options = {}) {
        return migrate(nodes_, files, options);
    }
    std::string value(const std::string& sql) { return database_.connect().value(sql); }

    TestDatabase database_;
    std::vector<Map::NodeSpec> nodes_{database_.node()};
};

TEST_F(Migrate, AppliesOnceAndRecordsWhatItApplied) {
    const std::vector files{file(1, make_shop), file(2, "ALTER TABLE shop.item ADD price bigint")};
    const auto first = run(files);
    ASSERT_TRUE(first) << first.error().detail();
    EXPECT_EQ(first->size(), 2U);
    const auto second = run(files);
    ASSERT_TRUE(second);
    EXPECT_TRUE(second->empty());
    EXPECT_EQ(value("SELECT string_agg(room || number || encode(checksum, 'hex'), ' ' "
                    "ORDER BY number) FROM tenon.migrations"),
              "shop1" + checksum_of(files[0]) + " shop2" + checksum_of(files[1]));
    EXPECT_TRUE(check_schema(nodes_, files));
}

TEST_F(Migrate, OwnSchemaPutsTheBucketFirst) {
    const auto done = run({migrations().begin(), migrations().end()});
    ASSERT_TRUE(done) << done.error().detail();
    Session session = database_.connect();
    const Catalog catalog = read_catalog(session, migrations());
    EXPECT_TRUE(catalog.unbucketed.empty());
    EXPECT_TRUE(catalog.objects.contains("column tenon.claims.fingerprint"));
    EXPECT_EQ(value("SELECT count(*) FROM pg_inherits WHERE inhparent = 'tenon.claims'::regclass"),
              "16");
}

TEST_F(Migrate, RefusesAUniqueConstraintThatDoesNotBeginWithTheBucket) {
    const auto refused = run(
        {file(1, make_shop), file(2, "CREATE UNIQUE INDEX item_name ON shop.item (name, bucket)")});
    ASSERT_FALSE(refused);
    EXPECT_TRUE(refused.error().is(errors::catalogs_differ));
    EXPECT_THAT(refused.error().detail(), HasSubstr("shop.item_name"));
}

TEST_F(Migrate, RefusesAChangedFileBeforeItAppliesAnything) {
    ASSERT_TRUE(run({file(1, make_shop)}));
    const std::vector files{file(1, "CREATE SCHEMA shop;"), file(2, "CREATE TABLE shop.b ()")};
    const auto refused = run(files);
    ASSERT_FALSE(refused);
    EXPECT_TRUE(refused.error().is(errors::migration_changed));
    EXPECT_EQ(value("SELECT to_regclass('shop.b') IS NULL"), "t");
    EXPECT_TRUE(check_schema(nodes_, files).error().is(errors::migration_changed));
}

TEST_F(Migrate, RefusesASchemaThatIsNewerThanTheProgram) {
    const std::vector files{file(1, make_shop), file(2, "CREATE TABLE shop.b ()")};
    ASSERT_TRUE(run(files));
    const std::vector older{files[0]};
    EXPECT_TRUE(run(older).error().is(errors::schema_ahead));
    EXPECT_TRUE(check_schema(nodes_, older).error().is(errors::schema_ahead));
}

TEST_F(Migrate, ServingNeedsEveryMigration) {
    const std::vector files{file(1, make_shop)};
    EXPECT_TRUE(check_schema(nodes_, files).error().is(errors::schema_behind));
    EXPECT_EQ(value("SELECT to_regnamespace('tenon') IS NULL"),
              "t");  // and looking changed nothing
}

TEST_F(Migrate, NamesNodeFileStatementAndStateAndKeepsWhatWentBefore) {
    const std::vector files{
        file(1, make_shop),
        file(2, "CREATE TABLE shop.b ();\nINSERT INTO shop.item VALUES (1, 'x');")};
    const auto failed = run(files);
    ASSERT_FALSE(failed);
    EXPECT_TRUE(failed.error().is(errors::migration_failed));
    const std::string& detail = failed.error().detail();
    EXPECT_THAT(detail, HasSubstr(nodes_[0].name));
    EXPECT_THAT(detail, HasSubstr("shop/0002_step, line 2"));
    EXPECT_THAT(detail, HasSubstr("22P02"));
    EXPECT_THAT(detail, HasSubstr("INSERT INTO shop.item"));
    EXPECT_EQ(value("SELECT to_regclass('shop.b') IS NULL"), "t");
    EXPECT_EQ(value("SELECT count(*) FROM tenon.migrations"), "1");
}

TEST_F(Migrate, GivesWayToALockAndTriesAgain) {
    ASSERT_TRUE(run({file(1, make_shop)}));
    Session other = database_.connect();
    other.run("BEGIN; LOCK TABLE shop.item IN ACCESS SHARE MODE");
    const std::vector files{file(1, make_shop), file(2, "ALTER TABLE shop.item ADD price bigint")};
    MigrateOptions options{.lock_timeout = milliseconds(20), .attempts_max = 2};
    const auto refused = run(files, options);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().detail(), HasSubstr("after 2 attempts"));
    EXPECT_THAT(refused.error().detail(), HasSubstr("55P03"));

    options.attempts_max = 1000;
    auto running = std::async(std::launch::async, [&] { return run(files, options); });
    Session watcher = database_.connect();
    while (watcher.value("SELECT count(*) FROM pg_locks WHERE NOT granted") == "0") {
        watcher.idle(milliseconds(1));
    }
    other.run("COMMIT");
    const auto done = running.get();
    ASSERT_TRUE(done) << done.error().detail();
    EXPECT_EQ(done->size(), 1U);
}

TEST_F(Migrate, TwoAtOnceApplyEachFileOnce) {
    const std::vector files{file(1, make_shop), file(2, "INSERT INTO shop.item VALUES (1, 1, 'a')"),
                            file(3,
                                 "-- tenon: no-transaction\nCREATE INDEX CONCURRENTLY item_name "
                                 "ON shop.item (name)")};
    std::vector<std::future<base::Result<std::vector<AppliedMigration>>>> running;
    for (int i = 0; i < 4; ++i) {
        running.push_back(std::async(std::launch::async, [&] { return run(files); }));
    }
    std::size_t applied = 0;
    for (auto& one : running) {
        const auto done = one.get();
        ASSERT_TRUE(done) << done.error().detail();
        applied += done->size();
    }
    EXPECT_EQ(applied, files.size());
}

TEST_F(Migrate, WaitsForAnotherProgramAndSaysSo) {
    Session other = database_.connect();
    other.run("SELECT pg_advisory_lock(1413828170, 1)");
    const auto refused = run({file(1, make_shop)}, {.wait_for_other = std::chrono::seconds(0)});
    ASSERT_FALSE(refused);
    EXPECT_TRUE(refused.error().is(errors::migration_busy));
}

TEST_F(Migrate, MakesAnIndexAnewThatAnEarlierTryLeftInvalid) {
    ASSERT_TRUE(run(
        {file(1, make_shop), file(2, "INSERT INTO shop.item VALUES (1, 1, 'a'), (1, 2, 'a')")}));
    const std::vector files{
        file(1, make_shop), file(2, "INSERT INTO shop.item VALUES (1, 1, 'a'), (1, 2, 'a')"),
        file(3,
             "-- tenon: no-transaction\nCREATE UNIQUE INDEX CONCURRENTLY item_name ON "
             "shop.item (bucket, name)")};
    const auto failed = run(files);
    ASSERT_FALSE(failed);
    EXPECT_THAT(failed.error().detail(), HasSubstr("23505"));
    EXPECT_EQ(value("SELECT count(*) FROM pg_index WHERE NOT indisvalid"), "1");
    database_.connect().run("DELETE FROM shop.item WHERE id = 2");
    const auto done = run(files);
    ASSERT_TRUE(done) << done.error().detail();
    EXPECT_EQ(value("SELECT count(*) FROM pg_index WHERE NOT indisvalid"), "0");
}

TEST_F(Migrate, PlanListsLocksAndRowsAndChangesNothing) {
    ASSERT_TRUE(run({file(1, make_shop)}));
    database_.connect().run(
        "INSERT INTO shop.item SELECT 1, g, 'a' FROM generate_series(1, 500) g; "
        "ANALYZE shop.item");
    const std::vector files{file(1, make_shop),
                            file(2,
                                 "ALTER TABLE shop.item ADD price bigint;\n"
                                 "CREATE INDEX ON shop.item (name);"),
                            file(3,
                                 "-- tenon: no-transaction\nCREATE INDEX CONCURRENTLY i ON "
                                 "shop.item (id)")};
    const auto plan = plan_migration(nodes_, files);
    ASSERT_TRUE(plan);
    ASSERT_EQ(plan->size(), 3U);
    EXPECT_EQ((*plan)[0].lock, "ACCESS EXCLUSIVE");
    EXPECT_EQ((*plan)[0].rows, 500);
    EXPECT_EQ((*plan)[1].lock, "SHARE");
    EXPECT_EQ((*plan)[1].line, 2);
    EXPECT_EQ((*plan)[2].lock, "SHARE UPDATE EXCLUSIVE");
    EXPECT_FALSE((*plan)[2].in_transaction);
    EXPECT_EQ(value("SELECT count(*) FROM tenon.migrations"), "1");
}

TEST_F(Migrate, ReportsANodeThatIsAwayAndServesWithoutIt) {
    const std::vector files{file(1, make_shop)};
    ASSERT_TRUE(run(files));
    std::vector nodes = nodes_;
    nodes.push_back({.name = "away", .conninfo = "host=/nonexistent"});
    const auto states = inspect_schema(nodes, files);
    EXPECT_THAT(states[1].unreachable, HasSubstr("node away"));
    EXPECT_TRUE(check_schema(nodes, files));
}

TEST_F(Migrate, ComparesTheCatalogsOfAllNodes) {
    const TestDatabase second;
    const std::vector nodes{database_.node(), second.node()};
    const std::vector files{file(1, make_shop)};
    ASSERT_TRUE(migrate(nodes, files));
    second.connect().run("ALTER TABLE shop.item ADD forgotten text");
    const auto refused = migrate(nodes, files);
    ASSERT_FALSE(refused);
    EXPECT_TRUE(refused.error().is(errors::catalogs_differ));
    EXPECT_THAT(refused.error().detail(), HasSubstr("shop.item.forgotten"));
}

TEST_F(Migrate, OpensASpaceForEveryTableThatIsPartitionedByBucket) {
    const auto sold =
        file(1,
             "CREATE SCHEMA shop; CREATE TABLE shop.sold (bucket integer, id integer, "
             "PRIMARY KEY (bucket, id)) PARTITION BY RANGE (bucket); "
             "SELECT tenon.partition_by_bucket('shop.sold')");
    const auto files = own_migrations_and({&sold, 1});
    database_.migrate(files);
    Session session = database_.connect();
    const auto map = Map::spread({database_.node()}, 2);
    EXPECT_EQ(fill_fences(session, map, Node{0}).added, 2048U);
    EXPECT_EQ(session.value("SELECT count(*) FROM pg_inherits WHERE inhparent IN "
                            "('shop.sold'::regclass, 'tenon.claims'::regclass)"),
              "64");
    session.run("INSERT INTO shop.sold VALUES (0, 1), (1023, 1), (1024, 1), (2047, 1)");
    EXPECT_EQ(fill_fences(session, map, Node{0}).added, 0U);
    EXPECT_TRUE(migrate(nodes_, files));
}

}  // namespace
}  // namespace tenon::storage
