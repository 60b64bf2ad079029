#include "app/doctor.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "app/doctor_gather.hpp"

namespace tenon::app {
namespace {

using namespace std::chrono_literals;

/// A deployment in which nothing is wrong.
DoctorFacts healthy() {
    DoctorFacts facts;
    PostgresFacts node;
    node.node = "main";
    node.version = 150'014;
    node.locks = {.locks_per_transaction = 256, .connections = 200, .prepared_transactions = 64};
    facts.nodes.push_back(node);
    facts.redis.bytes_max = std::int64_t{1} << 30;
    facts.redis.eviction = "allkeys-lru";
    facts.redis.saves = "";
    facts.machine = {.folder = "/data",
                     .disk_free = std::int64_t{50} << 30,
                     .disk_size = std::int64_t{100} << 30,
                     .files_max = 65'536,
                     .connections_max = 10'000,
                     .cores = 2,
                     .connections_per_core = 10,
                     .addresses = {"127.0.0.1", "::1"},
                     .speaks_tls = false};
    facts.server = {.url = "http://127.0.0.1:8080",
                    .expected = true,
                    .status = 200,
                    .body = R"({"status":"ready","checks":[]})",
                    .why_none = ""};
    return facts;
}

/// The finding with an id; fails the test when there is none.
Finding find(const DoctorFacts& facts, const std::string& id) {
    const auto findings = diagnose(facts);
    const auto found = std::ranges::find(findings, id, &Finding::id);
    if (found != findings.end()) return *found;
    ADD_FAILURE() << "no finding " << id;
    return {};
}

/// Expects one severity of one finding after one change to what is healthy.
template <class Change>
void expect(const std::string& id, Severity severity, Change change) {
    SCOPED_TRACE(id);
    auto facts = healthy();
    change(facts);
    const auto finding = find(facts, id);
    EXPECT_EQ(finding.severity, severity) << finding.evidence;
    EXPECT_EQ(finding.fix.has_value(), severity != Severity::ok);
    EXPECT_FALSE(finding.evidence.empty());
}

TEST(Doctor, FindsNothingWrongWithWhatIsHealthy) {
    const auto findings = diagnose(healthy());
    EXPECT_GE(findings.size(), 20U);
    for (const auto& finding : findings) {
        EXPECT_EQ(finding.severity, Severity::ok) << finding.id << ": " << finding.evidence;
        EXPECT_FALSE(finding.fix);
    }
    EXPECT_EQ(worst_of(findings), Severity::ok);
}

TEST(Doctor, IdsAreThoseThatScriptsKnow) {
    std::vector<std::string> ids;
    for (const auto& finding : diagnose(healthy())) ids.push_back(finding.id);
    EXPECT_EQ(ids, (std::vector<std::string>{"postgres.reachable",
                                             "postgres.version",
                                             "postgres.fsync",
                                             "postgres.full_page_writes",
                                             "postgres.synchronous_commit",
                                             "postgres.lock_table",
                                             "postgres.prepared_transactions",
                                             "postgres.connections",
                                             "postgres.wal_level",
                                             "postgres.role",
                                             "postgres.encoding",
                                             "postgres.clock",
                                             "postgres.encryption",
                                             "schema.pending",
                                             "schema.changed",
                                             "schema.ahead",
                                             "redis.reachable",
                                             "redis.version",
                                             "redis.eviction",
                                             "redis.persistence",
                                             "machine.disk",
                                             "machine.open_files",
                                             "http.encryption",
                                             "server.ready"}));
}

TEST(Doctor, EveryNodeIsJudgedAndNamed) {
    auto facts = healthy();
    facts.nodes.push_back(facts.nodes.front());
    facts.nodes.back().node = "second";
    facts.nodes.back().fsync = false;
    std::vector<std::string> failing;
    for (const auto& finding : diagnose(facts)) {
        if (finding.severity == Severity::failure) failing.push_back(finding.node.value_or(""));
    }
    EXPECT_EQ(failing, std::vector<std::string>{"second"});
}

TEST(DoctorPostgres, AnUnreachableNodeIsOneFailure) {
    auto facts = healthy();
    facts.nodes.front().unreachable = "connection refused";
    facts.nodes.front().fsync = false;
    const auto findings = diagnose(facts);
    EXPECT_EQ(std::ranges::count(findings, Severity::failure, &Finding::severity), 1);
    EXPECT_EQ(findings.front().evidence, "connection refused");
    EXPECT_EQ(worst_of(findings), Severity::failure);
}

TEST(DoctorPostgres, VersionsThatAreNotTested) {
    const auto with = [](int version) {
        return [version](DoctorFacts& facts) { facts.nodes.front().version = version; };
    };
    expect("postgres.version", Severity::failure, with(140'019));
    expect("postgres.version", Severity::ok, with(150'000));
    expect("postgres.version", Severity::ok, with(180'001));
    expect("postgres.version", Severity::warning, with(190'000));
}

TEST(DoctorPostgres, SettingsThatLoseData) {
    expect("postgres.fsync", Severity::failure,
           [](auto& facts) { facts.nodes.front().fsync = false; });
    expect("postgres.full_page_writes", Severity::failure,
           [](auto& facts) { facts.nodes.front().full_page_writes = false; });
    expect("postgres.synchronous_commit", Severity::failure,
           [](auto& facts) { facts.nodes.front().synchronous_commit = "off"; });
    expect("postgres.synchronous_commit", Severity::ok,
           [](auto& facts) { facts.nodes.front().synchronous_commit = "remote_apply"; });
}

TEST(DoctorPostgres, TheLockTableHoldsEveryWriterInEveryBucket) {
    const auto with = [](std::int64_t cores) {
        return [cores](DoctorFacts& facts) {
            facts.nodes.front().locks = {
                .locks_per_transaction = 64, .connections = 320, .prepared_transactions = 0};
            facts.machine.cores = cores;
        };
    };
    // 64 × 320 = 20 × 1024
    expect("postgres.lock_table", Severity::ok, with(2));
    expect("postgres.lock_table", Severity::warning, with(3));
}

TEST(DoctorPostgres, WhatIsOffWithoutRightsOrSettings) {
    expect("postgres.prepared_transactions", Severity::info,
           [](auto& facts) { facts.nodes.front().locks.prepared_transactions = 0; });
    expect("postgres.wal_level", Severity::info,
           [](auto& facts) { facts.nodes.front().wal_level = "replica"; });
    expect("postgres.role", Severity::warning,
           [](auto& facts) { facts.nodes.front().is_superuser = true; });
    expect("postgres.role", Severity::warning,
           [](auto& facts) { facts.nodes.front().owns_database = false; });
    expect("postgres.encoding", Severity::failure,
           [](auto& facts) { facts.nodes.front().encoding = "SQL_ASCII"; });
}

TEST(DoctorPostgres, ConnectionsOfOneProcess) {
    const auto with = [](std::int64_t connections) {
        return [connections](DoctorFacts& facts) {
            facts.nodes.front().locks.connections = connections;
        };
    };
    expect("postgres.connections", Severity::ok, with(23));
    expect("postgres.connections", Severity::warning, with(22));
}

TEST(DoctorPostgres, AClockIsOffOnlyByMoreThanTheMeasureMayBeWrong) {
    const auto with = [](std::chrono::microseconds ahead, std::chrono::microseconds error) {
        return [=](DoctorFacts& facts) {
            facts.nodes.front().ahead = ahead;
            facts.nodes.front().ahead_error = error;
        };
    };
    expect("postgres.clock", Severity::ok, with(500ms, 0ms));
    expect("postgres.clock", Severity::warning, with(501ms, 0ms));
    expect("postgres.clock", Severity::ok, with(501ms, 1ms));
    expect("postgres.clock", Severity::warning, with(-4s, 10ms));
    expect("postgres.clock", Severity::failure, with(-6s, 10ms));
}

TEST(DoctorPostgres, ANetworkIsNoPlaceForClearText) {
    expect("postgres.encryption", Severity::warning,
           [](auto& facts) { facts.nodes.front().is_remote = true; });
    expect("postgres.encryption", Severity::ok, [](auto& facts) {
        facts.nodes.front().is_remote = true;
        facts.nodes.front().is_encrypted = true;
    });
}

TEST(DoctorSchema, NamesTheFiles) {
    auto facts = healthy();
    facts.nodes.front().schema.pending.push_back(
        {.room = "links", .number = 2, .name = "tags", .sql = ""});
    facts.nodes.front().schema.changed = {"storage/0001_fence"};
    facts.nodes.front().schema.unknown = {"links/0009_later"};
    EXPECT_EQ(find(facts, "schema.pending").evidence, "not applied: links/0002_tags");
    EXPECT_EQ(find(facts, "schema.changed").severity, Severity::failure);
    EXPECT_NE(find(facts, "schema.changed").evidence.find("storage/0001_fence"), std::string::npos);
    EXPECT_NE(find(facts, "schema.ahead").evidence.find("links/0009_later"), std::string::npos);
}

TEST(DoctorRedis, IsNoFailureWhenAway) {
    auto facts = healthy();
    facts.redis.unreachable = "connection refused";
    const auto finding = find(facts, "redis.reachable");
    EXPECT_EQ(finding.severity, Severity::warning);
    EXPECT_EQ(judge_redis(facts.redis).size(), 1U);
}

TEST(DoctorRedis, VersionEvictionPersistence) {
    expect("redis.version", Severity::failure, [](auto& facts) { facts.redis.version = "6.2.7"; });
    expect("redis.version", Severity::ok, [](auto& facts) { facts.redis.version = "8.1.0"; });
    expect("redis.eviction", Severity::warning,
           [](auto& facts) { facts.redis.eviction = "noeviction"; });
    expect("redis.eviction", Severity::info, [](auto& facts) { facts.redis.bytes_max = 0; });
    expect("redis.persistence", Severity::info, [](auto& facts) { facts.redis.appends = true; });
    expect("redis.persistence", Severity::info,
           [](auto& facts) { facts.redis.saves = "3600 1 300 100"; });
    expect("redis.persistence", Severity::ok, [](auto& facts) { facts.redis.saves.reset(); });
    expect("redis.persistence", Severity::warning,
           [](auto& facts) { facts.redis.save_failed = true; });
}

TEST(DoctorMachine, DiskFilesAndAddresses) {
    expect("machine.disk", Severity::warning,
           [](auto& facts) { facts.machine.disk_free = std::int64_t{1} << 30; });
    expect("machine.disk", Severity::failure,
           [](auto& facts) { facts.machine.disk_free = std::int64_t{100} << 20; });
    // 10,000 connections, 2 × 11, and 100 besides.
    expect("machine.open_files", Severity::ok,
           [](auto& facts) { facts.machine.files_max = 10'122; });
    expect("machine.open_files", Severity::warning,
           [](auto& facts) { facts.machine.files_max = 10'121; });
    const auto anywhere = [](bool speaks_tls) {
        return [speaks_tls](DoctorFacts& facts) {
            facts.machine.addresses = {"127.0.0.1", "0.0.0.0"};
            facts.machine.speaks_tls = speaks_tls;
        };
    };
    expect("http.encryption", Severity::warning, anywhere(false));
    expect("http.encryption", Severity::ok, anywhere(true));
}

TEST(DoctorMachine, OnlyADevHasAFolder) {
    auto facts = healthy();
    facts.machine.folder.reset();
    EXPECT_EQ(std::ranges::count(diagnose(facts), "machine.disk", &Finding::id), 0);
}

TEST(DoctorServer, SaysWhatReadyzSays) {
    const auto with = [](long status, const char* body) {
        return [=](DoctorFacts& facts) {
            facts.server.status = status;
            facts.server.body = body;
        };
    };
    expect("server.ready", Severity::warning, with(200, R"({"status":"degraded"})"));
    expect("server.ready", Severity::failure, with(503, R"({"status":"not ready"})"));
    expect("server.ready", Severity::failure, with(0, ""));
    expect("server.ready", Severity::info, [](auto& facts) {
        facts.server.status = 0;
        facts.server.expected = false;
    });
}

TEST(FindInfo, ReadsWholeNamesOnly) {
    constexpr std::string_view info =
        "# Memory\r\nmaxmemory:0\r\nmaxmemory_policy:noeviction\r\nlast:x:y";
    EXPECT_EQ(find_info(info, "maxmemory"), "0");
    EXPECT_EQ(find_info(info, "maxmemory_policy"), "noeviction");
    EXPECT_EQ(find_info(info, "max"), "");
    EXPECT_EQ(find_info(info, "last"), "x:y");
    EXPECT_EQ(find_info("", "last"), "");
}

}  // namespace
}  // namespace tenon::app
