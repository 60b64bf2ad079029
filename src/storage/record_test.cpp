#include "storage/record.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "storage/errors.hpp"

namespace tenon::storage {
namespace {

using testing::HasSubstr;

const std::vector<Migration> files{
    {.room = "storage", .number = 1, .name = "one", .sql = "SELECT 1"},
    {.room = "storage", .number = 2, .name = "two", .sql = "SELECT 2"},
    {.room = "links", .number = 1, .name = "links", .sql = "SELECT 3"}};

RecordedMigration record_of(const Migration& file) {
    return {.room = std::string(file.room),
            .number = file.number,
            .name = std::string(file.name),
            .checksum = checksum_of(file)};
}

TEST(CompareRecord, KeepsTheOrderOfFiles) {
    const auto state = compare_record("a", files, {record_of(files[1])});
    ASSERT_EQ(state.pending.size(), 2U);
    EXPECT_EQ(title_of(state.pending[0]), "storage/0001_one");
    EXPECT_EQ(title_of(state.pending[1]), "links/0001_links");
    EXPECT_TRUE(allow_migration(state));
}

TEST(CompareRecord, ServesOnlyACompleteSchema) {
    const std::vector complete{record_of(files[0]), record_of(files[1]), record_of(files[2])};
    EXPECT_TRUE(allow_serving(compare_record("a", files, complete)));
    const auto refused = allow_serving(compare_record("a", files, {complete[0]}));
    ASSERT_FALSE(refused);
    EXPECT_TRUE(refused.error().is(errors::schema_behind));
    EXPECT_THAT(refused.error().detail(), HasSubstr("storage/0002_two, links/0001_links"));
}

TEST(CompareRecord, RefusesAChangedText) {
    auto changed = record_of(files[0]);
    changed.checksum[0] = changed.checksum[0] == '0' ? '1' : '0';
    const auto refused = allow_migration(compare_record("a", files, {changed}));
    ASSERT_FALSE(refused);
    EXPECT_TRUE(refused.error().is(errors::migration_changed));
    EXPECT_THAT(refused.error().detail(), HasSubstr("storage/0001_one"));
}

TEST(CompareRecord, RefusesASchemaFromTheFuture) {
    auto newer = record_of(files[0]);
    newer.number = 3;
    const auto refused = allow_migration(compare_record("a", files, {newer}));
    ASSERT_FALSE(refused);
    EXPECT_TRUE(refused.error().is(errors::schema_ahead));
    EXPECT_THAT(refused.error().detail(), HasSubstr("storage/0003_one"));
}

TEST(CompareRecord, LetsANodeBeAway) {
    SchemaState away;
    away.unreachable = "no route";
    away.pending = files;
    EXPECT_TRUE(allow_serving(away));
}

TEST(Migrations, OfThisRoomAreEmbeddedWithoutGaps) {
    int expected = 0;
    for (const Migration& file : migrations()) {
        EXPECT_EQ(file.room, "storage");
        EXPECT_EQ(file.number, ++expected);
        EXPECT_FALSE(file.sql.empty());
    }
    EXPECT_GE(expected, 3);
}

}  // namespace
}  // namespace tenon::storage
