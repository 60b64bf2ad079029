// Which pending claims are ended, and what becomes of them.
#include "storage/claims_finisher.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "runtime/wait.hpp"
#include "storage/claims_reaper.hpp"
#include "storage/test_pending.hpp"

namespace tenon::storage {
namespace {

using boost::asio::awaitable;

const base::Digest body = base::sha256("body");

/// An effect at a provider that cannot be asked: what became of it stays unknown, and it is never
/// sent again.
class Messages : public PendingKind {
public:
    std::size_t asked = 0;
    bool is_away = false;
    awaitable<std::optional<ClaimOutcome>> finish(runtime::Call& /*call*/,
                                                  HeldClaim /*held*/) override {
        ++asked;
        if (is_away) throw runtime::Unavailable("away", std::chrono::seconds(1));
        co_return ClaimOutcome{.outcome = "test.unknown", .answer = "{}"};
    }
};

class Finisher : public testing::Test {
protected:
    HeldClaim begin(const std::string& key, const std::string& kind = Invites::kind,
                    base::Bucket bucket = Invites::claim_bucket) {
        auto call = test_.call(key, body);
        auto request = test_.request();
        request.kind = kind;
        request.bucket = bucket;
        auto begun =
            host().run(dead_.claims.begin(call, dead_.claims.want(call, std::move(request))));
        return std::get<HeldClaim>(*begun);
    }
    std::size_t finish(std::chrono::milliseconds age = std::chrono::milliseconds(0),
                       std::int32_t batch_max = 100) {
        ClaimsFinisher finisher(alive_.database, alive_.claims,
                                {.age = age, .batch_max = batch_max});
        finisher.add(Invites::kind, invites_);
        finisher.add("test.message", messages_);
        auto call = host().call();
        return host().run(finisher.finish(call));
    }
    std::optional<SeenClaim> find(const HeldClaim& held) {
        auto call = host().call();
        return host().run(find_pending(call, alive_.database, held.key));
    }
    runtime::TestCore& host() { return test_.store.host; }

    TestPending test_;
    TestProcess dead_{test_.store, test_.control_options()};
    TestProcess alive_{test_.store, test_.control_options()};
    Invites invites_{alive_.database};
    Messages messages_;
};

/// A provider that does not answer until nobody waits any more.
class Hanging : public PendingKind {
public:
    explicit Hanging(runtime::TestCore& host) : host_(host) {}
    std::set<std::string> seen;
    awaitable<std::optional<ClaimOutcome>> finish(runtime::Call& call, HeldClaim held) override {
        seen.insert(held.key.key);
        runtime::Event never(host_.core.io());
        co_await never.wait(call);
        co_return std::nullopt;
    }

private:
    runtime::TestCore& host_;
};

TEST_F(Finisher, ThatIsHeldUpInOnePartitionGoesOnWithTheNext) {
    begin("early", "test.hanging");
    begin("late", "test.hanging", base::Bucket{1'000});
    test_.end_lease(dead_);
    Hanging hanging(host());
    ClaimsFinisher finisher(alive_.database, alive_.claims, {.age = std::chrono::milliseconds(0)});
    finisher.add("test.hanging", hanging);
    // A round has time for one of them at most, and each is tried in the end.
    constexpr int rounds_max = 500;
    for (int round = 0; round < rounds_max && hanging.seen.size() < 2; ++round) {
        auto call = host().call(std::chrono::milliseconds(100));
        host().run(finisher.finish(call));
    }
    EXPECT_EQ(hanging.seen, (std::set<std::string>{"early", "late"}));
}

TEST_F(Finisher, CompletesWhatHappenedAndUndoesTheRest) {
    const auto made = begin("made");
    const auto unmade = begin("unmade");
    auto call = test_.call("made", body);
    host().run(invites_.act(call, made));
    test_.end_lease(dead_);
    EXPECT_EQ(finish(), 2U);
    EXPECT_EQ(find(made)->claim.answer, made.hold.drawn);
    EXPECT_FALSE(find(made)->claim.pending);
    EXPECT_FALSE(find(unmade));
    EXPECT_EQ(test_.effects(), "1");
    EXPECT_EQ(test_.tombstones(), "1");
    EXPECT_EQ(finish(), 0U);
}

TEST_F(Finisher, LeavesTheYoungTheLivingAndUnknownKinds) {
    begin("a");
    begin("b", "test.other");
    EXPECT_EQ(finish(), 0U);  // its holder lives
    test_.end_lease(dead_);
    EXPECT_EQ(finish(std::chrono::minutes(1)), 0U);
    EXPECT_EQ(finish(), 1U);
    EXPECT_EQ(test_.claims(), "1");
}

TEST_F(Finisher, LeavesAProvidersEffectUnknownInsteadOfSendingItAgain) {
    const auto sent = begin("sent", "test.message");
    test_.end_lease(dead_);
    EXPECT_EQ(finish(), 1U);
    EXPECT_EQ(find(sent)->claim.outcome, "test.unknown");
    EXPECT_EQ(messages_.asked, 1U);
}

TEST_F(Finisher, LeavesAFailedOneForTheNextRoundAndEndsTheOthers) {
    const auto sent = begin("sent", "test.message");
    begin("a");
    test_.end_lease(dead_);
    messages_.is_away = true;
    EXPECT_EQ(finish(), 1U);
    ASSERT_TRUE(find(sent));
    EXPECT_EQ(find(sent)->hold->holder, 0);  // a repeat need not wait for it
    messages_.is_away = false;
    EXPECT_EQ(finish(), 1U);
}

TEST_F(Finisher, EndsAtMostABatchPerRoundTheOldestFirst) {
    for (const char* key : {"a", "b", "c"}) begin(key);
    test_.end_lease(dead_);
    EXPECT_EQ(finish(std::chrono::milliseconds(0), 2), 2U);
    EXPECT_EQ(finish(std::chrono::milliseconds(0), 2), 1U);
}

TEST_F(Finisher, TombstonesOutliveClaimsAndAreDeletedByAge) {
    const auto node = test_.store.map->place_of(Invites::effect_bucket).node.index;
    test_.store.script(
        "INSERT INTO tenon.tombstones SELECT 8, gen_random_uuid(), clock_timestamp() - CASE WHEN g "
        "<= 20 THEN interval '9 d' ELSE interval '7 d' END FROM generate_series(1, 50) g",
        node);
    ClaimsReaper reaper(alive_.database, {.batch_max = 7});
    auto call = host().call();
    EXPECT_EQ(host().run(reaper.reap(call)).tombstones, 20U);
    EXPECT_EQ(test_.tombstones(), "30");
}

}  // namespace
}  // namespace tenon::storage
