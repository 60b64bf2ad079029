#include "storage/roles.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>

#include "postgres/failure.hpp"
#include "storage/errors.hpp"
#include "storage/test_database.hpp"

namespace tenon::storage {
namespace {

constexpr auto role = "tenon_serves";

class Serving : public testing::Test {
protected:
    Serving() {
        const char* admin = std::getenv("TENON_TEST_POSTGRES_ADMIN");
        EXPECT_NE(admin, nullptr) << "run this test by scripts/with-engines";
        Session(Session::Options{.node = "server", .conninfo = admin == nullptr ? "" : admin})
            .run(
                "DO $$ BEGIN CREATE ROLE tenon_serves LOGIN; "
                "EXCEPTION WHEN duplicate_object THEN NULL; END $$");
        database_.migrate(migrations());
        auto owner = database_.connect();
        granted_ = grant_serving(owner, migrations(), role).has_value();
        fill_fences(owner, Map::spread({database_.node()}), Node{0});
        serving_.emplace(Session::Options{.node = "serving",
                                          .conninfo = database_.conninfo() + " user=tenon_serves"});
    }
    std::string refusal_of(const std::string& sql) {
        try {
            serving_->run(sql);
        } catch (const postgres::QueryFailed& failure) {
            return failure.report().sqlstate;
        }
        return "";
    }
    static constexpr auto insufficient_privilege = "42501";

    TestDatabase database_;
    bool granted_ = false;
    std::optional<Session> serving_;
};

TEST_F(Serving, ReadsAndWritesRowsBehindTheFence) {
    ASSERT_TRUE(granted_);
    EXPECT_EQ(refusal_of("BEGIN; SELECT tenon.enter('{7}', '{1}'); "
                         "INSERT INTO tenon.claims (bucket, project, caller, key, fingerprint, "
                         "state, outcome, answer) VALUES (7, gen_random_uuid(), '', 'k', "
                         "sha256('x'), 0, '', ''); DELETE FROM tenon.claims; COMMIT"),
              "");
    EXPECT_EQ(refusal_of("SELECT tenon.map(), tenon.timeline()"), "");
    fill_fences(*serving_, Map::spread({database_.node()}), Node{0});
}

TEST_F(Serving, ChangesNoSchemaAndNoRecordOfIt) {
    EXPECT_EQ(refusal_of("CREATE TABLE tenon.mine (id integer)"), insufficient_privilege);
    EXPECT_EQ(refusal_of("DROP TABLE tenon.claims"), insufficient_privilege);
    EXPECT_EQ(refusal_of("TRUNCATE tenon.claims"), insufficient_privilege);
    EXPECT_EQ(refusal_of("ALTER TABLE tenon.claims DISABLE TRIGGER ALL"), insufficient_privilege);
    EXPECT_EQ(refusal_of("DELETE FROM tenon.migrations"), insufficient_privilege);
}

TEST_F(Serving, AMissingRoleIsSaidWithItsMend) {
    auto owner = database_.connect();
    const auto granted = grant_serving(owner, migrations(), "nobody; DROP TABLE x");
    ASSERT_FALSE(granted);
    EXPECT_TRUE(granted.error().is(errors::no_role));
    EXPECT_THAT(granted.error().detail(), testing::HasSubstr("CREATE ROLE"));
}

}  // namespace
}  // namespace tenon::storage
