// What tests of pending claims share: three nodes, a control database that can go away, processes,
// and a service whose effect lies on another node than its claim.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "storage/claims_finisher.hpp"
#include "storage/test_store.hpp"

namespace tenon::storage {

/// One process as far as claims go: its connections and its lease.
struct TestProcess {
    TestProcess(TestStore& store, const ControlOptions& control, bool has_lease = true)
        : host(store.host),
          database(store.host.core, store.map, {}, control),
          lease(database, base::make_uuid_v4(store.host.core.random())),
          claims(database, lease) {
        auto call = host.call();
        if (has_lease) host.run(lease.renew(call));
    }
    ~TestProcess() {
        auto call = host.call(std::chrono::seconds(10));
        host.run(database.close(call));
    }

    runtime::TestCore& host;
    Database database;
    ProcessLease lease;
    PendingClaims claims;
};

/// Sends invitations: rows on another node than the claim's, under the id that it drew.
class Invites : public PendingKind {
public:
    static constexpr base::Bucket claim_bucket{7};
    static constexpr base::Bucket effect_bucket{8};
    static constexpr const char* kind = "test.invite";

    explicit Invites(Database& database) : database_(database) {}

    /// Called between the effect's statements and its commit.
    std::function<boost::asio::awaitable<void>()> before_commit;
    std::size_t acted = 0;

    boost::asio::awaitable<ClaimOutcome> act(runtime::Call& call, HeldClaim held) {
        ++acted;
        const std::array buckets{effect_bucket};
        const std::array ids{*base::parse_uuid(held.hold.drawn)};
        auto transaction = co_await database_.begin(call, buckets);
        co_await transaction.query(call, guard_effect(effect_bucket, ids));
        co_await transaction.query(
            call, {.statement = {"INSERT INTO invite VALUES ($1, $2) ON CONFLICT DO NOTHING"},
                   .parameters = postgres::Parameters::of(effect_bucket, ids[0])});
        if (before_commit) co_await before_commit();
        co_await transaction.commit(call);
        co_return ClaimOutcome{.outcome = "", .answer = held.hold.drawn};
    }

    boost::asio::awaitable<std::optional<ClaimOutcome>> finish(runtime::Call& call,
                                                               HeldClaim held) override {
        const std::array buckets{effect_bucket};
        const std::array ids{*base::parse_uuid(held.hold.drawn)};
        auto transaction = co_await database_.begin(call, buckets);
        co_await transaction.query(call, undo_effect(effect_bucket, ids));
        const auto there = co_await transaction.query(
            call, {.statement = {"SELECT FROM invite WHERE bucket = $1 AND id = $2"},
                   .parameters = postgres::Parameters::of(effect_bucket, ids[0])});
        if (!there.empty()) {
            co_await transaction.rollback(call);
            co_return ClaimOutcome{.outcome = "", .answer = held.hold.drawn};
        }
        co_await transaction.commit(call);
        co_return std::nullopt;
    }

private:
    Database& database_;
};

/// Nodes and a control database of their own, with the table of Invites.
class TestPending {
public:
    TestPending() {
        for (std::size_t node = 0; node < 3; ++node) {
            store.script("CREATE TABLE invite (bucket integer, id uuid, PRIMARY KEY (bucket, id))",
                         node);
        }
    }

    /// Takes the control database away: what is connected is cut off and nobody comes in.
    void stop_control() {
        auto session = store.nodes[0].connect();
        session.run("ALTER DATABASE " + control.node().name + " ALLOW_CONNECTIONS false");
        session.run(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '" +
            control.node().name + "'");
    }
    void start_control() {
        store.nodes[0].connect().run("ALTER DATABASE " + control.node().name +
                                     " ALLOW_CONNECTIONS true");
    }
    /// The control database says from now on that the process is dead; it runs on all the same.
    void end_lease(const TestProcess& process) {
        control.connect().run(
            "UPDATE tenon.processes SET lease_until = clock_timestamp() WHERE token = " +
            std::to_string(process.lease.token()));
    }
    /// Counts on the node of a bucket.
    std::string count(const std::string& table, base::Bucket bucket) {
        return store.value("SELECT count(*) FROM " + table, store.map->place_of(bucket).node.index);
    }
    std::string effects() { return count("invite", Invites::effect_bucket); }
    std::string claims() { return count("tenon.claims", Invites::claim_bucket); }
    std::string tombstones() { return count("tenon.tombstones", Invites::effect_bucket); }

    [[nodiscard]] runtime::Call call(const std::string& key, const base::Digest& body) {
        auto made = store.host.call(std::chrono::seconds(30));
        made.project = project;
        made.claim = runtime::Claim{.key = key, .fingerprint = body};
        return made;
    }
    [[nodiscard]] PendingRequest request() {
        return {.bucket = Invites::claim_bucket,
                .kind = Invites::kind,
                .drawn = base::format_uuid(base::make_uuid_v4(store.host.core.random()))};
    }
    [[nodiscard]] ControlOptions control_options() const {
        return {.conninfo = control.conninfo(), .reference_tables = {}};
    }

    TestStore store{migrations(), 3};
    TestDatabase control;
    base::Uuid project{{9}};

private:
    const bool control_is_migrated_ = [this] {
        control.migrate(migrations());
        return true;
    }();
};

}  // namespace tenon::storage
