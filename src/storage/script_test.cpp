#include "storage/script.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

namespace tenon::storage {
namespace {

std::vector<std::string> texts_of(std::string_view script) {
    std::vector<std::string> texts;
    for (const Step& step : split_script(script)) {
        texts.emplace_back(step.sql);
    }
    return texts;
}

TEST(SplitScript, EndsStatementsAtSemicolons) {
    EXPECT_EQ(texts_of("SELECT 1; SELECT 2 ;\nSELECT 3"),
              (std::vector<std::string>{"SELECT 1", "SELECT 2", "SELECT 3"}));
    EXPECT_TRUE(texts_of(" ;; -- nothing\n /* here */ ").empty());
}

TEST(SplitScript, LeavesQuotedSemicolonsAlone) {
    EXPECT_EQ(texts_of("SELECT 'a;''b;', \"c;\"\"d;\"; SELECT E'\\';'").size(), 2U);
    EXPECT_EQ(texts_of("SELECT ';\\'; SELECT 2").size(), 2U);  // no escape without E
}

TEST(SplitScript, LeavesDollarQuotesAlone) {
    EXPECT_EQ(
        texts_of("DO $$ BEGIN; END $$; SELECT $a$ ; $b$ ; $a$; SELECT $1; SELECT a$b;").size(), 4U);
}

TEST(SplitScript, LeavesCommentsAlone) {
    EXPECT_EQ(texts_of("SELECT 1 /* ; /* ; */ ; */ + 1; SELECT 2 -- ;\n + 2").size(), 2U);
}

TEST(SplitScript, TellsTheLineAndSkipsCommentsBefore) {
    const auto steps = split_script("-- why\n\nSELECT 1;\n-- and\nSELECT 2;");
    ASSERT_EQ(steps.size(), 2U);
    EXPECT_EQ(steps[0].line, 3);
    EXPECT_EQ(steps[1].line, 5);
    EXPECT_EQ(steps[1].sql, "SELECT 2");
}

TEST(SplitScript, TakesWhatIsLeftOpenAsOneStatement) {
    EXPECT_EQ(texts_of("SELECT 'open ; SELECT 2").size(), 1U);
    EXPECT_EQ(texts_of("SELECT $x$ ; SELECT 2").size(), 1U);
    EXPECT_EQ(texts_of("SELECT 1 /* ; ").size(), 1U);
}

RC_GTEST_PROP(SplitScript, EveryStepIsAPartOfTheScript, ()) {
    const auto script = *rc::gen::container<std::string>(
        rc::gen::element('a', ';', '\'', '"', '$', '-', '/', '*', '\\', 'E', '\n', ' ', '1'));
    std::size_t end = 0;
    for (const Step& step : split_script(script)) {
        const auto at = static_cast<std::size_t>(step.sql.data() - script.data());
        RC_ASSERT(at >= end && !step.sql.empty());
        end = at + step.sql.size();
        RC_ASSERT(end <= script.size());
    }
}

TEST(Footprint, KnowsTheLocksOfSchemaChanges) {
    const auto expect = [](std::string_view sql, std::string_view kind, std::string_view lock,
                           std::string_view table) {
        const Footprint footprint = footprint_of(sql);
        EXPECT_EQ(footprint.kind, kind) << sql;
        EXPECT_EQ(footprint.lock, lock) << sql;
        EXPECT_EQ(footprint.table, table) << sql;
    };
    expect("create table if not exists a.b (c int)", "CREATE TABLE", "none", "");
    expect("ALTER TABLE IF EXISTS ONLY a.b ADD c int", "ALTER TABLE", "ACCESS EXCLUSIVE", "a.b");
    expect("ALTER TABLE a.b VALIDATE CONSTRAINT c", "ALTER TABLE", "SHARE UPDATE EXCLUSIVE", "a.b");
    expect("ALTER TABLE a ATTACH PARTITION b FOR VALUES FROM (1) TO (2)", "ALTER TABLE",
           "SHARE UPDATE EXCLUSIVE", "a");
    expect("CREATE INDEX i ON a.b (c)", "CREATE INDEX", "SHARE", "a.b");
    expect("CREATE UNIQUE INDEX ON ONLY a.\"B c\" (d)", "CREATE INDEX", "SHARE", "a.\"B c\"");
    expect("CREATE /* x */ INDEX CONCURRENTLY IF NOT EXISTS i -- y\n ON a (c)",
           "CREATE INDEX CONCURRENTLY", "SHARE UPDATE EXCLUSIVE", "a");
    expect("DROP INDEX CONCURRENTLY IF EXISTS i", "DROP INDEX CONCURRENTLY",
           "SHARE UPDATE EXCLUSIVE", "i");
    expect("INSERT INTO a.b (c) VALUES (1)", "INSERT", "ROW EXCLUSIVE", "a.b");
    expect("SELECT f('a.b')", "SELECT", "depends on what it calls", "");
    expect("VACUUM a", "", "not known", "");
    expect("", "", "not known", "");
}

TEST(Footprint, NamesTheIndexThatMayBeLeftInvalid) {
    EXPECT_EQ(concurrent_index_of("CREATE INDEX CONCURRENTLY IF NOT EXISTS i ON a (c)"), "i");
    EXPECT_EQ(concurrent_index_of("CREATE UNIQUE INDEX CONCURRENTLY i ON a (c)"), "i");
    EXPECT_EQ(concurrent_index_of("CREATE INDEX CONCURRENTLY ON a (c)"), "");
    EXPECT_EQ(concurrent_index_of("CREATE INDEX i ON a (c)"), "");
}

TEST(RunsOutsideTransaction, NeedsItsMarkOnTheFirstLine) {
    EXPECT_TRUE(runs_outside_transaction("-- tenon: no-transaction\nSELECT 1"));
    EXPECT_TRUE(runs_outside_transaction("-- tenon: no-transaction"));
    EXPECT_FALSE(runs_outside_transaction("-- tenon: no-transactions\nSELECT 1"));
    EXPECT_FALSE(runs_outside_transaction("\n-- tenon: no-transaction\nSELECT 1"));
}

}  // namespace
}  // namespace tenon::storage
