#include "postgres/startup.hpp"

#include <gtest/gtest.h>

#include "postgres/failure.hpp"

namespace tenon::postgres {
namespace {

constexpr SessionLimits limits{.statement = std::chrono::milliseconds(5'000),
                               .lock = std::chrono::milliseconds(2'000),
                               .idle_in_transaction = std::chrono::milliseconds(1'500)};

TEST(Startup, SetsLimitsBehindTheOptionsOfTheConninfo) {
    const Startup startup("host=/run dbname=d options='-c statement_timeout=0 -c work_mem=1MB'",
                          limits);
    EXPECT_EQ(startup.settings().at("options"),
              "-c statement_timeout=0 -c work_mem=1MB -c TimeZone=UTC "
              "-c plan_cache_mode=force_generic_plan -c statement_timeout=5000 "
              "-c lock_timeout=2000 -c idle_in_transaction_session_timeout=1500");
    EXPECT_EQ(startup.settings().at("tcp_user_timeout"), "5000");
    EXPECT_EQ(startup.settings().at("client_encoding"), "UTF8");
}

TEST(Startup, LeavesWhatTheConninfoSays) {
    const Startup startup("postgresql://u@h/d?application_name=mine&tcp_user_timeout=9", limits);
    EXPECT_EQ(startup.settings().at("application_name"), "mine");
    EXPECT_EQ(startup.settings().at("tcp_user_timeout"), "9");
    EXPECT_EQ(startup.settings().at("host"), "h");
}

TEST(Startup, ChangesLimitsWithoutRepeatingThem) {
    const Startup startup("options='-c a.b=1'", limits);
    EXPECT_EQ(startup.with({}).settings().at("options"),
              "-c a.b=1 -c TimeZone=UTC -c plan_cache_mode=force_generic_plan "
              "-c statement_timeout=0 -c lock_timeout=0 "
              "-c idle_in_transaction_session_timeout=0");
}

TEST(Startup, RefusesWhatIsNoConninfo) {
    EXPECT_THROW(Startup("host", limits), std::invalid_argument);
    EXPECT_THROW(Startup("colour=red", limits), std::invalid_argument);
}

TEST(Startup, NamesItsTargetWithoutThePassword) {
    const Startup startup("host=h port=1 dbname=d user=u password=hush", limits);
    EXPECT_EQ(startup.target(), "h:1/d as u");
}

TEST(QueryFailed, AdvisesByItsClass) {
    const auto advice = [](const char* state) {
        return QueryFailed({.sqlstate = state,
                            .message = "m",
                            .detail = {},
                            .hint = {},
                            .constraint = {},
                            .statement = {}})
            .advice();
    };
    EXPECT_EQ(advice("22021"), runtime::Advice::split);
    EXPECT_EQ(advice("23505"), runtime::Advice::split);
    EXPECT_EQ(advice("40001"), runtime::Advice::repeat);
    EXPECT_EQ(advice("40P01"), runtime::Advice::repeat);
    EXPECT_EQ(advice("40002"), runtime::Advice::give_up);
    EXPECT_EQ(advice("TN001"), runtime::Advice::give_up);
    EXPECT_EQ(advice("57014"), runtime::Advice::later);
    EXPECT_EQ(advice("53100"), runtime::Advice::later);
    EXPECT_EQ(advice("42601"), runtime::Advice::give_up);
}

TEST(QueryFailed, SaysWhatWhereAndInWhichStatement) {
    const QueryFailed failed({.sqlstate = "23505",
                              .message = "duplicate key",
                              .detail = {},
                              .hint = {},
                              .constraint = "links_pkey",
                              .statement = "insert into links"});
    EXPECT_STREQ(failed.what(),
                 "PostgreSQL refused a statement: duplicate key (SQLSTATE 23505, constraint "
                 "links_pkey) in: insert into links");
}

std::string setting(const std::optional<Startup>& startup, const char* keyword) {
    return startup ? startup->settings().at(keyword) : "nothing";
}

TEST(Startup, GoesOnWithTheHostsAfterOne) {
    const Startup startup("host=a,b,/tmp port=1,2,5432 hostaddr=10.0.0.1,10.0.0.2,", {});
    EXPECT_EQ(setting(startup.after("a", "1"), "host"), "b,/tmp");
    EXPECT_EQ(setting(startup.after("a", "1"), "hostaddr"), "10.0.0.2,");
    EXPECT_EQ(setting(startup.after("a", "1"), "port"), "2,5432");
    EXPECT_EQ(setting(startup.after("10.0.0.2", "2"), "host"), "/tmp");
    EXPECT_EQ(setting(startup.after("/tmp", "5432"), "host"), "nothing");
    EXPECT_EQ(setting(startup.after("c", "1"), "host"), "nothing");
    const Startup one_port("host=a,b port=7", {});
    EXPECT_EQ(setting(one_port.after("a", "7"), "host"), "b");
    EXPECT_EQ(setting(one_port.after("a", "7"), "port"), "7");
    EXPECT_EQ(setting(Startup("host=a,b", {}).after("a", "5432"), "host"), "b");
    EXPECT_EQ(setting(Startup("dbname=d", {}).after("/tmp", "5432"), "host"), "nothing");
}

TEST(Startup, WantsAPrimaryUnlessToldOtherwise) {
    EXPECT_EQ(setting(Startup("host=a", {}), "target_session_attrs"), "primary");
    EXPECT_EQ(setting(Startup("target_session_attrs=any", {}), "target_session_attrs"), "any");
}

TEST(Startup, IsPatientForAStatementAndItsWay) {
    EXPECT_EQ(Startup("", limits).patience(), std::chrono::milliseconds(7'000));
    EXPECT_EQ(Startup("", {}).patience(), std::chrono::milliseconds(0));
}

TEST(Timeline, NeverGoesBack) {
    Timelines timelines;
    const auto timeline = timelines.of("host=a");
    EXPECT_TRUE(timeline->admit(1));
    EXPECT_TRUE(timeline->admit(3));
    EXPECT_TRUE(timeline->admit(3));
    EXPECT_FALSE(timeline->admit(2));
    EXPECT_EQ(timelines.of("host=a")->newest(), 3);
    EXPECT_EQ(timelines.of("host=b")->newest(), 0);
}

}  // namespace
}  // namespace tenon::postgres
