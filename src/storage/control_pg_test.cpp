// The control database: its map, its versions, and the copies of reference tables.
#include "storage/control.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "storage/errors.hpp"
#include "storage/test_store.hpp"

namespace tenon::storage {
namespace {

namespace fs = std::filesystem;
using postgres::Parameters;
using postgres::Query;
using testing::HasSubstr;

// `owner` refers to `team`, so that copies must come in that order.
constexpr Migration staff{
    .room = "staff",
    .number = 1,
    .name = "team",
    .sql =
        "CREATE SCHEMA staff;"
        "CREATE TABLE staff.team (id integer PRIMARY KEY, name text NOT NULL, tags text[],"
        "  secret bytea, made_at timestamptz, version bigint NOT NULL DEFAULT 0);"
        "CREATE TABLE staff.owner (id integer PRIMARY KEY, team integer REFERENCES staff.team,"
        "  version bigint NOT NULL DEFAULT 0);"
        "SELECT tenon.make_reference('staff.team');"
        "SELECT tenon.make_reference('staff.owner')"};

std::vector<Migration> files() {
    return own_migrations_and({&staff, 1});
}

class Control : public testing::Test {
protected:
    Control() { database_.migrate(migrations()); }
    std::vector<Map::NodeSpec> nodes(std::size_t total) const {
        std::vector<Map::NodeSpec> specs;
        for (std::size_t at = 0; at < total; ++at) {
            specs.push_back({.name = fmt::format("n{}", at), .conninfo = "host=nowhere"});
        }
        return specs;
    }
    TestDatabase database_;
    Session session_ = database_.connect();
};

TEST_F(Control, IsFilledOnceAndEveryBucketHasANode) {
    EXPECT_TRUE(read_control(session_).error().is(errors::no_map));
    EXPECT_TRUE(fill_control(session_, nodes(3), 2));
    EXPECT_FALSE(fill_control(session_, nodes(5)));
    const auto record = read_control(session_);
    ASSERT_TRUE(record);
    EXPECT_EQ(record->nodes.size(), 3U);
    const Map map = map_of(*record);
    EXPECT_EQ(map.spaces_total(), 2U);
    EXPECT_EQ(map.place_of({1'030}).node.index, 1'030U % 3);
}

TEST_F(Control, AChangeByHandIsANewVersion) {
    fill_control(session_, nodes(2));
    const auto before = read_control(session_)->version;
    session_.run("UPDATE tenon.map_buckets SET node = 'n1', epoch = 2 WHERE bucket < 10");
    const auto record = read_control(session_);
    EXPECT_EQ(record->version, before + 1);
    EXPECT_EQ(record->owners[0], 1);
    EXPECT_EQ(record->epochs[0], 2);
    EXPECT_EQ(record->epochs[10], 1);
}

TEST_F(Control, ItsMapIsKeptForWhenItIsAway) {
    const auto folder = fs::temp_directory_path() / fmt::format("tenon-control-{}", ::getpid());
    fill_control(session_, nodes(2));
    const auto found = find_map({.control = database_.conninfo(), .folder = folder});
    ASSERT_TRUE(found);
    EXPECT_FALSE(found->is_kept);
    const auto kept = find_map({.control = "host=/nowhere", .folder = folder});
    ASSERT_TRUE(kept);
    EXPECT_TRUE(kept->is_kept);
    EXPECT_EQ(kept->record.owners, found->record.owners);
    fs::remove_all(folder);
    const auto none = find_map({.control = "host=/nowhere", .folder = folder});
    ASSERT_FALSE(none);
    EXPECT_TRUE(none.error().is(errors::control_away));
    EXPECT_THAT(none.error().detail(), HasSubstr("no map was kept in " + folder.string()));
}

class Copies : public testing::Test {
protected:
    Copies() { control_.migrate(files()); }
    void write(const std::string& sql) { control_.connect().run(sql); }
    void copy(std::uint32_t node) {
        auto call = store_.host.call();
        store_.host.run(store_.database->refresh_references(call, Node{node}));
    }
    std::string on(std::size_t node, const std::string& sql) { return store_.value(sql, node); }

    TestDatabase control_;
    TestStore store_{
        files(),
        2,
        {},
        {.conninfo = control_.conninfo(), .reference_tables = {"staff.team", "staff.owner"}}};
};

TEST_F(Copies, ARowOfEveryTypeArrivesAsItWas) {
    write(R"(INSERT INTO staff.team VALUES
             (1, E'a "b" \\ {c}', '{x,NULL,"y z"}', '\x00ff', '2026-11-30 12:00:00.123456+00'))");
    copy(1);
    constexpr auto whole = "SELECT team::text FROM staff.team";
    EXPECT_EQ(on(1, whole), control_.connect().value(whole));
}

TEST_F(Copies, AChangeIsCopiedOnceAndAnOlderRowNeverWins) {
    write("INSERT INTO staff.team VALUES (1, 'old')");
    copy(0);
    write("UPDATE staff.team SET name = 'new'");
    copy(0);
    EXPECT_EQ(on(0, "SELECT name FROM staff.team"), "new");
    store_.script(
        "SELECT tenon.copy_reference('staff.team', "
        "'[{\"id\": 1, \"name\": \"late\", \"version\": 1}]', 1)");
    EXPECT_EQ(on(0, "SELECT name FROM staff.team"), "new");
    EXPECT_EQ(on(0, "SELECT version FROM tenon.reference_copies WHERE name = 'staff.team'"), "2");
}

TEST_F(Copies, MorePagesThanOneArrive) {
    write("INSERT INTO staff.team SELECT n, 'team ' || n FROM generate_series(1, 1203) AS n");
    write("INSERT INTO staff.owner SELECT n, n FROM generate_series(1, 1203) AS n");
    copy(1);
    EXPECT_EQ(on(1, "SELECT count(*) FROM staff.owner JOIN staff.team USING (id)"), "1203");
}

TEST_F(Copies, WhoWritesThroughTheDatabaseFindsItOnEveryNode) {
    constexpr postgres::Statement insert{"INSERT INTO staff.team (id, name) VALUES (7, 'fresh')"};
    constexpr postgres::Statement find{"SELECT name FROM staff.team WHERE id = 7"};
    auto call = store_.host.call();
    std::vector<Query> queries;
    queries.push_back({.statement = insert, .parameters = {}});
    store_.host.run(store_.database->write_reference(call, std::move(queries)));
    EXPECT_EQ(on(0, find.sql), "fresh");
    EXPECT_EQ(on(1, find.sql), "fresh");
    const auto read = store_.host.run(
        store_.database->read_reference(call, {.statement = find, .parameters = {}}));
    EXPECT_EQ(read.value<std::string>(0, 0), "fresh");
}

TEST_F(Copies, VersionsRiseInTheOrderOfCommits) {
    Session one = control_.connect();
    one.run("BEGIN; INSERT INTO staff.team VALUES (1, 'first')");
    Session two = control_.connect();
    two.send("INSERT INTO staff.team VALUES (2, 'second')");
    one.idle(std::chrono::milliseconds(50));
    EXPECT_FALSE(two.has_finished());  // or it would be seen before the one with a lower version
    one.run("COMMIT");
    two.finish();
    EXPECT_EQ(control_.connect().value("SELECT string_agg(name, ' ' ORDER BY version) "
                                       "FROM staff.team"),
              "first second");
}

}  // namespace
}  // namespace tenon::storage
