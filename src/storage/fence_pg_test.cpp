// The matrix of F3: which ways of taking the lock and reading the fence let a stale writer through.
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "postgres/failure.hpp"
#include "storage/fences.hpp"
#include "storage/locks.hpp"
#include "storage/test_database.hpp"

namespace tenon::storage {
namespace {

using std::chrono::milliseconds;

// Ways that look right and are not; each takes the lock and returns whether the fence is active.
constexpr auto wrong_ways = R"(
    CREATE FUNCTION one_statement(wanted integer) RETURNS boolean
    LANGUAGE plpgsql VOLATILE AS $$
    BEGIN
        RETURN (WITH held AS MATERIALIZED (SELECT pg_advisory_xact_lock_shared(1413828162, wanted))
                SELECT state = 'active' FROM tenon.fences, held WHERE bucket = wanted);
    END $$;
    CREATE FUNCTION stable_function(wanted integer) RETURNS boolean
    LANGUAGE plpgsql STABLE AS $$
    BEGIN
        PERFORM pg_advisory_xact_lock_shared(1413828162, wanted);
        RETURN (SELECT state = 'active' FROM tenon.fences WHERE bucket = wanted);
    END $$;
    CREATE FUNCTION two_statements(wanted integer) RETURNS boolean
    LANGUAGE plpgsql VOLATILE AS $$
    BEGIN
        PERFORM pg_advisory_xact_lock_shared(1413828162, wanted);
        RETURN (SELECT state = 'active' FROM tenon.fences WHERE bucket = wanted);
    END $$;
    CREATE FUNCTION for_share(wanted integer) RETURNS boolean
    LANGUAGE plpgsql VOLATILE AS $$
    BEGIN
        PERFORM pg_advisory_xact_lock_shared(1413828162, wanted);
        RETURN (SELECT state = 'active' FROM tenon.fences WHERE bucket = wanted FOR SHARE);
    END $$;
    CREATE FUNCTION demand(passed boolean) RETURNS void
    LANGUAGE plpgsql AS $$
    BEGIN
        IF NOT passed THEN RAISE EXCEPTION 'fenced' USING ERRCODE = 'TN001'; END IF;
    END $$;
    CREATE TABLE effect (id integer))";

class Fence : public testing::Test {
protected:
    Fence() {
        (void)database_.prepare(migrations());
        mover_.run(wrong_ways);
    }

    // A writer that waits for the bucket's lock while the bucket moves away; "" when it got
    // through.
    std::string refusal_of(const std::string& begin, const std::string& enter) {
        mover_.run(
            "BEGIN; SELECT pg_advisory_xact_lock(1413828162, 7); "
            "UPDATE tenon.fences SET state = 'moved', target = 'b', epoch = 2 "
            "WHERE bucket = 7");
        Session writer = database_.connect();
        writer.send(begin + "; SELECT " + enter + "; INSERT INTO effect VALUES (1); COMMIT");
        while (mover_.value("SELECT count(*) FROM pg_locks WHERE NOT granted AND pid = " +
                            std::to_string(writer.process())) == "0") {
            mover_.idle(milliseconds(1));
        }
        mover_.run("COMMIT");
        try {
            writer.finish();
            return "";
        } catch (const postgres::QueryFailed& failure) {
            return failure.report().sqlstate;
        }
    }
    std::string effects() { return mover_.value("SELECT count(*) FROM effect"); }
    std::string refusal_of(const std::string& sql) {
        Session session = database_.connect();
        try {
            session.run(sql);
            return "";
        } catch (const postgres::QueryFailed& failure) {
            return failure.report().sqlstate + " " + failure.report().detail;
        }
    }

    TestDatabase database_;
    Session mover_ = database_.connect();
};

TEST_F(Fence, OneStatementLetsAStaleWriterThrough) {
    EXPECT_EQ(refusal_of("BEGIN", "demand(one_statement(7))"), "");
    EXPECT_EQ(effects(), "1");
}

TEST_F(Fence, AStableFunctionLetsAStaleWriterThrough) {
    EXPECT_EQ(refusal_of("BEGIN", "demand(stable_function(7))"), "");
    EXPECT_EQ(effects(), "1");
}

TEST_F(Fence, RepeatableReadLetsAStaleWriterThrough) {
    EXPECT_EQ(refusal_of("BEGIN ISOLATION LEVEL REPEATABLE READ", "demand(two_statements(7))"), "");
    EXPECT_EQ(effects(), "1");
}

TEST_F(Fence, SerializableLetsAStaleWriterThrough) {
    EXPECT_EQ(refusal_of("BEGIN ISOLATION LEVEL SERIALIZABLE", "demand(two_statements(7))"), "");
    EXPECT_EQ(effects(), "1");
}

TEST_F(Fence, ARowLockUnderRepeatableReadFailsInstead) {
    EXPECT_EQ(refusal_of("BEGIN ISOLATION LEVEL REPEATABLE READ", "demand(for_share(7))"), "40001");
    EXPECT_EQ(effects(), "0");
}

TEST_F(Fence, TwoStatementsUnderReadCommittedSeeTheFlip) {
    EXPECT_EQ(refusal_of("BEGIN", "demand(two_statements(7))"), "TN001");
    EXPECT_EQ(effects(), "0");
}

TEST_F(Fence, EnterSeesTheFlipItWaitedFor) {
    EXPECT_EQ(refusal_of("BEGIN", "tenon.enter('{3,7,9}', '{1,1,1}')"), "TN001");
    EXPECT_EQ(effects(), "0");
}

TEST_F(Fence, EnterRefusesStrongerIsolation) {
    for (const std::string level : {"REPEATABLE READ", "SERIALIZABLE"}) {
        EXPECT_EQ(refusal_of("BEGIN ISOLATION LEVEL " + level +
                             "; SELECT tenon.enter('{7}', '{1}'); COMMIT"),
                  "TN002 ");
    }
    EXPECT_EQ(refusal_of("SELECT tenon.enter('{7}', '{1}')"), "");
}

TEST_F(Fence, EnterNamesTheBucketsThatAreNotOwned) {
    mover_.run(
        "UPDATE tenon.fences SET state = 'read_only' WHERE bucket = 5; "
        "UPDATE tenon.fences SET epoch = 2 WHERE bucket = 6; "
        "UPDATE tenon.fences SET timeline = timeline + 1 WHERE bucket = 8; "
        "DELETE FROM tenon.fences WHERE bucket = 9");
    EXPECT_EQ(refusal_of("SELECT tenon.enter('{4,5,6,7,8,9,10}', '{1,1,1,1,1,1}')"),
              "TN001 5,6,8,9,10");  // 10 has no epoch
    EXPECT_EQ(refusal_of("SELECT tenon.enter('{10,4,7}', '{1,1,1}')"), "");
}

TEST_F(Fence, ConfirmLetsReadsPassWhileABucketIsReadOnly) {
    mover_.run(
        "UPDATE tenon.fences SET state = 'read_only' WHERE bucket = 5; "
        "UPDATE tenon.fences SET epoch = 2 WHERE bucket = 6; "
        "UPDATE tenon.fences SET state = 'moved', target = 'b' WHERE bucket = 7");
    EXPECT_EQ(refusal_of("SELECT tenon.confirm('{4,5,6,7}', '{1,1,1,1}')"), "TN001 6,7");
}

TEST_F(Fence, APipelinedCommitIsAbortedByTheServer) {
    mover_.run("UPDATE tenon.fences SET epoch = 2 WHERE bucket = 7");
    EXPECT_EQ(refusal_of("BEGIN; SELECT tenon.enter('{7}', '{1}'); INSERT INTO effect VALUES (1); "
                         "COMMIT"),
              "TN001 7");
    EXPECT_EQ(effects(), "0");
}

TEST_F(Fence, APreparedTransactionKeepsItsLocks) {
    Session writer = database_.connect();
    writer.run(
        "BEGIN; SELECT tenon.enter('{7}', '{1}'); INSERT INTO effect VALUES (1); "
        "PREPARE TRANSACTION 'fence_pg_test'");
    const auto ask = "SELECT pg_try_advisory_lock(1413828162, 7)";
    EXPECT_EQ(mover_.value(ask), "f");
    writer.run("COMMIT PREPARED 'fence_pg_test'");
    EXPECT_EQ(mover_.value(ask), "t");
}

TEST_F(Fence, WritersOfABucketDoNotWaitForEachOther) {
    Session one = database_.connect();
    Session two = database_.connect();
    one.run("BEGIN; SELECT tenon.enter('{7,8}', '{1,1}')");
    two.run("SET lock_timeout = 1; BEGIN; SELECT tenon.enter('{8,7}', '{1,1}'); COMMIT");
    EXPECT_EQ(mover_.value("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' "
                           "AND mode = 'ShareLock' AND classid = 1413828162"),
              "2");
}

TEST_F(Fence, TheTimelineNeedsNoRights) {
    EXPECT_EQ(mover_.value("SELECT tenon.timeline()"), "1");
    EXPECT_EQ(mover_.value("SELECT rolsuper FROM pg_roles WHERE rolname = current_user"), "f");
}

TEST_F(Fence, FillingAddsAndConfirmsButNeverReopens) {
    const auto map = Map::spread({database_.node()});
    mover_.run(
        "DELETE FROM tenon.fences WHERE bucket < 3; "
        "UPDATE tenon.fences SET timeline = 9 WHERE bucket IN (10, 11); "
        "UPDATE tenon.fences SET state = 'read_only', timeline = 9 WHERE bucket = 12; "
        "UPDATE tenon.fences SET state = 'moved', target = 'b', epoch = 2 WHERE bucket = 13");
    const FilledFences filled = fill_fences(mover_, map, Node{0});
    EXPECT_EQ(filled.added, 3U);
    EXPECT_EQ(filled.confirmed, 2U);
    EXPECT_EQ(filled.differing, 2U);
    EXPECT_EQ(refusal_of("SELECT tenon.enter('{0,10,12,13}', '{1,1,1,1}')"), "TN001 12,13");
}

/// What tenon.served says, beside what the fences say.
constexpr auto is_served_right = R"(
    SELECT (served.total, served.digest) = (
        SELECT count(*)::integer,
               sha256(convert_to(string_agg(bucket || ':' || epoch, ',' ORDER BY bucket), 'UTF8'))
        FROM tenon.fences
        WHERE state <> 'moved')
    FROM tenon.served)";

TEST_F(Fence, WhatIsServedFollowsEveryChange) {
    EXPECT_EQ(mover_.value("SELECT total FROM tenon.served"), "1024");
    EXPECT_EQ(mover_.value(is_served_right), "t");
    mover_.run("UPDATE tenon.fences SET state = 'moved', target = 'b', epoch = 2 WHERE bucket = 1");
    EXPECT_EQ(mover_.value("SELECT total FROM tenon.served"), "1023");
    EXPECT_EQ(mover_.value(is_served_right), "t");
    mover_.run("DELETE FROM tenon.fences WHERE bucket > 9");
    EXPECT_EQ(mover_.value(is_served_right), "t");
}

TEST_F(Fence, WhatIsServedIsRightWhenTwoChangeFencesAtOnce) {
    Session other = database_.connect();
    mover_.run("BEGIN; UPDATE tenon.fences SET epoch = 2 WHERE bucket = 1");
    other.send("UPDATE tenon.fences SET epoch = 3 WHERE bucket = 2");
    while (mover_.value("SELECT count(*) FROM pg_locks WHERE NOT granted AND pid = " +
                        std::to_string(other.process())) == "0") {
        mover_.idle(milliseconds(1));
    }
    mover_.run("COMMIT");
    other.finish();
    EXPECT_EQ(mover_.value(is_served_right), "t");
}

}  // namespace
}  // namespace tenon::storage
