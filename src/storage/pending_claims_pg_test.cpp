// Pending claims with real transactions: take-overs, late writers, and a control database away.
#include "storage/pending_claims.hpp"

#include <gtest/gtest.h>

#include "runtime/task_group.hpp"
#include "storage/errors.hpp"
#include "storage/test_pending.hpp"

namespace tenon::storage {
namespace {

using boost::asio::awaitable;
using Answer = base::Result<ClaimOutcome>;

const base::Digest body = base::sha256("body");

awaitable<void> keep_answer(TestProcess& process, Invites& invites, runtime::Call& call,
                            PendingRequest request, std::optional<Answer>& answer) {
    answer = co_await process.claims.run(
        call, std::move(request),
        [&invites](runtime::Call& own, const HeldClaim& held) { return invites.act(own, held); });
}

class Pending : public testing::Test {
protected:
    Answer run(TestProcess& process, const std::string& key, const base::Digest& print = body) {
        auto call = test_.call(key, print);
        std::optional<Answer> answer;
        Invites invites(process.database);
        host().run(keep_answer(process, invites, call, test_.request(), answer));
        acted_ += invites.acted;
        replayed_ = call.claim->replayed;
        return std::move(*answer);
    }
    /// As run(), up to the claim's commit, where the process then stands still.
    HeldClaim begin(TestProcess& process, const std::string& key) {
        auto call = test_.call(key, body);
        auto begun =
            host().run(process.claims.begin(call, process.claims.want(call, test_.request())));
        return std::get<HeldClaim>(*begun);
    }
    ClaimOutcome act(TestProcess& process, const HeldClaim& held) {
        auto call = test_.call("late", body);
        Invites invites(process.database);
        return host().run(invites.act(call, held));
    }
    std::size_t finish(TestProcess& process) {
        Invites invites(process.database);
        ClaimsFinisher finisher(process.database, process.claims,
                                {.age = std::chrono::milliseconds(0)});
        finisher.add(Invites::kind, invites);
        auto call = host().call();
        return host().run(finisher.finish(call));
    }
    bool runs_first(const Answer& answer) { return answer && !replayed_; }
    runtime::TestCore& host() { return test_.store.host; }

    TestPending test_;
    TestProcess one_{test_.store, test_.control_options()};
    TestProcess two_{test_.store, test_.control_options()};
    std::size_t acted_ = 0;
    bool replayed_ = false;
};

TEST_F(Pending, ARepeatGetsTheStoredAnswerFromAnyProcess) {
    const auto first = run(one_, "a");
    ASSERT_TRUE(runs_first(first));
    for (auto* process : {&one_, &two_}) {
        const auto again = run(*process, "a");
        ASSERT_TRUE(again);
        EXPECT_TRUE(replayed_);
        EXPECT_EQ(again->answer, first->answer);
    }
    EXPECT_EQ(acted_, 1U);
    EXPECT_EQ(test_.effects(), "1");
    EXPECT_EQ(test_.count("tenon.claim_holds", Invites::claim_bucket), "0");
}

TEST_F(Pending, AnotherBodyIsRefusedPendingOrNot) {
    begin(one_, "a");
    test_.end_lease(one_);
    const auto other = base::sha256("other");
    EXPECT_TRUE(run(two_, "a", other).error().is(errors::claim_mismatch));
    ASSERT_TRUE(run(two_, "a"));
    EXPECT_TRUE(run(two_, "a", other).error().is(errors::claim_mismatch));
    EXPECT_EQ(test_.effects(), "1");
}

TEST_F(Pending, ALivingHolderIsWaitedForAndADeadOneTakenOverWithItsIds) {
    const auto held = begin(one_, "a");
    for (auto* process : {&one_, &two_}) {
        const auto waits = run(*process, "a");
        ASSERT_FALSE(waits);
        EXPECT_TRUE(waits.error().is(errors::claim_running));
        EXPECT_EQ(waits.error().retry_after().count(), 1);
    }
    test_.end_lease(one_);
    const auto taken = run(two_, "a");
    ASSERT_TRUE(runs_first(taken));
    EXPECT_EQ(taken->answer, held.hold.drawn);
}

TEST_F(Pending, ACrashAfterTheEffectMakesNoSecondOne) {
    act(one_, begin(one_, "a"));
    test_.end_lease(one_);
    ASSERT_TRUE(run(two_, "a"));
    EXPECT_EQ(test_.effects(), "1");
}

TEST_F(Pending, WhoComesBackAfterATakeOverCannotSettle) {
    const auto held = begin(one_, "a");
    test_.end_lease(one_);
    ASSERT_TRUE(run(two_, "a"));
    act(one_, held);  // the same id: no second effect
    auto call = test_.call("a", body);
    EXPECT_FALSE(host().run(one_.claims.settle(call, held, {.outcome = "", .answer = "late"})));
    EXPECT_FALSE(host().run(one_.claims.forget(call, held)));
    EXPECT_EQ(test_.effects(), "1");
    EXPECT_EQ(run(one_, "a")->answer, held.hold.drawn);
}

TEST_F(Pending, OfTwoRepeatsThatSawTheSameDeadHolderOneTakesOver) {
    const auto held = begin(one_, "a");
    test_.end_lease(one_);
    TestProcess three(test_.store, test_.control_options());
    const auto node = test_.store.map->place_of(Invites::claim_bucket).node.index;
    auto gate = test_.store.nodes[node].connect();
    gate.run("BEGIN; SELECT FROM tenon.claim_holds FOR UPDATE");
    Invites from_two(two_.database);
    Invites from_three(three.database);
    auto call_two = test_.call("a", body);
    auto call_three = test_.call("a", body);
    std::optional<Answer> answer_two;
    std::optional<Answer> answer_three;
    runtime::TaskGroup tasks(host().core.io());
    tasks.spawn("two", keep_answer(two_, from_two, call_two, test_.request(), answer_two));
    tasks.spawn("three", keep_answer(three, from_three, call_three, test_.request(), answer_three));
    test_.store.turn_until_blocked(node, 2);  // both at the compare-and-set
    gate.run("COMMIT");
    host().run(tasks.join());
    EXPECT_EQ(from_two.acted + from_three.acted, 1U);
    for (const auto& answer : {answer_two, answer_three}) {
        if (*answer) EXPECT_EQ((**answer).answer, held.hold.drawn);
        if (!*answer) EXPECT_TRUE(answer->error().is(errors::claim_running));
    }
    EXPECT_TRUE(*answer_two || *answer_three);
    EXPECT_EQ(test_.effects(), "1");
}

TEST_F(Pending, AFailedEffectGivesItsClaimUpAtOnce) {
    const auto node = test_.store.map->place_of(Invites::effect_bucket).node.index;
    test_.store.script("ALTER TABLE invite RENAME TO away", node);
    EXPECT_THROW(run(one_, "a"), postgres::QueryFailed);
    test_.store.script("ALTER TABLE away RENAME TO invite", node);
    EXPECT_TRUE(runs_first(run(two_, "a")));  // the first process is alive
    EXPECT_EQ(test_.effects(), "1");
}

TEST_F(Pending, WhateverAnEffectThrowsGivesItsClaimUp) {
    auto call = test_.call("a", body);
    EXPECT_THROW(
        host().run(one_.claims.run(call, test_.request(),
                                   [](runtime::Call&, const HeldClaim&) -> awaitable<ClaimOutcome> {
                                       throw std::logic_error("a mistake");
                                       co_return ClaimOutcome{};
                                   })),
        std::logic_error);
    EXPECT_TRUE(runs_first(run(two_, "a")));  // the first process is alive
}

/// A deadline ends the wait for a claim, and the claim comes to be all the same.
TEST_F(Pending, AClaimThatIsMadeAfterItsDeadlineIsGivenUp) {
    const auto node = test_.store.map->place_of(Invites::claim_bucket).node.index;
    auto gate = test_.store.nodes[node].connect();
    gate.run("BEGIN; LOCK TABLE tenon.claims IN SHARE MODE");
    auto call = test_.call("a", body);
    call.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
    Invites invites(one_.database);
    std::optional<Answer> answer;
    runtime::TaskGroup tasks(host().core.io());
    tasks.spawn("late",
                [](TestProcess& process, Invites& service, runtime::Call& own,
                   PendingRequest request, std::optional<Answer>& into) -> awaitable<void> {
                    try {
                        co_await keep_answer(process, service, own, std::move(request), into);
                        ADD_FAILURE() << "it was claimed in time";
                    } catch (const runtime::DeadlineExceeded&) {
                        co_return;
                    }
                }(one_, invites, call, test_.request(), answer));
    test_.store.turn_until_blocked(node, 1);
    auto watcher = test_.store.nodes[node].connect();
    while (!call.expired()) {
        host().turn();
        watcher.idle(std::chrono::milliseconds(1));
    }
    gate.run("COMMIT");
    host().run(tasks.join());
    EXPECT_EQ(test_.claims(), "1");
    EXPECT_TRUE(runs_first(run(two_, "a")));  // the first process is alive
    EXPECT_EQ(invites.acted, 0U);
    EXPECT_EQ(test_.effects(), "1");
}

TEST_F(Pending, AnOldHoldIsNobodysThoughItsProcessLives) {
    begin(one_, "a");
    const auto node = test_.store.map->place_of(Invites::claim_bucket).node.index;
    test_.store.script("UPDATE tenon.claim_holds SET held_at = held_at - interval '11 min'", node);
    EXPECT_TRUE(runs_first(run(one_, "a")));
}

/// A writer that stands still within its effect's transaction while its claim is being ended.
TEST_F(Pending, WhoEndsAClaimWaitsForAnOpenEffectAndThenCompletesIt) {
    runtime::Event go_on(host().core.io());
    Invites slow(one_.database);
    slow.before_commit = [&go_on] { return go_on.wait(); };
    auto call = test_.call("a", body);
    std::optional<Answer> answer;
    runtime::TaskGroup tasks(host().core.io());
    tasks.spawn("slow", keep_answer(one_, slow, call, test_.request(), answer));
    const auto node = test_.store.map->place_of(Invites::effect_bucket).node.index;
    auto watcher = test_.store.nodes[node].connect();
    while (watcher.value("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND classid = "
                         "1413828165") == "0") {
        host().turn();
        watcher.idle(std::chrono::milliseconds(1));
    }
    test_.end_lease(one_);
    Invites service(two_.database);
    ClaimsFinisher finisher(two_.database, two_.claims, {.age = std::chrono::milliseconds(0)});
    finisher.add(Invites::kind, service);
    auto finishing = host().call();
    std::size_t finished = 0;
    tasks.spawn(
        "finish",
        [](ClaimsFinisher& ending, runtime::Call& own, std::size_t& total) -> awaitable<void> {
            total = co_await ending.finish(own);
        }(finisher, finishing, finished));
    test_.store.turn_until_blocked(node, 1);
    go_on.set();
    host().run(tasks.join());
    EXPECT_EQ(finished, 1U);
    EXPECT_EQ(test_.tombstones(), "0");
    EXPECT_EQ(test_.effects(), "1");
    // The late one was answered with what the claim was settled with, or was asked to repeat.
    if (*answer) EXPECT_EQ((**answer).answer, run(two_, "a")->answer);
    if (!*answer) EXPECT_TRUE(answer->error().is(errors::claim_running));
    ASSERT_TRUE(run(two_, "a"));
    EXPECT_TRUE(replayed_);
}

TEST_F(Pending, ALateWriterMeetsTheTombstoneAndMakesNothing) {
    const auto held = begin(one_, "a");
    test_.end_lease(one_);
    EXPECT_EQ(finish(two_), 1U);
    EXPECT_EQ(test_.claims(), "0");
    EXPECT_EQ(test_.tombstones(), "1");
    const auto anew = run(two_, "a");
    ASSERT_TRUE(runs_first(anew));
    EXPECT_NE(anew->answer, held.hold.drawn);
    try {
        act(one_, held);
        FAIL() << "the effect happened";
    } catch (const postgres::QueryFailed& failure) {
        EXPECT_TRUE(is_undone(std::make_exception_ptr(failure)));
        EXPECT_EQ(failure.report().detail, held.hold.drawn);
    }
    EXPECT_EQ(test_.effects(), "1");
}

TEST_F(Pending, ALateWriterWaitsForAnUndoThatIsUnderWay) {
    const auto held = begin(one_, "a");
    const auto node = test_.store.map->place_of(Invites::effect_bucket).node.index;
    auto undoing = test_.store.nodes[node].connect();
    undoing.run("BEGIN; SELECT tenon.undo(8, ARRAY['" + held.hold.drawn + "']::uuid[])");
    test_.end_lease(one_);
    Invites late(two_.database);
    auto call = test_.call("a", body);
    std::optional<Answer> answer;
    runtime::TaskGroup tasks(host().core.io());
    tasks.spawn("late", keep_answer(two_, late, call, test_.request(), answer));
    test_.store.turn_until_blocked(node, 1);
    undoing.run("COMMIT");
    host().run(tasks.join());
    ASSERT_FALSE(*answer);
    EXPECT_TRUE(answer->error().is(errors::claim_running));
    EXPECT_EQ(test_.effects(), "0");
    EXPECT_EQ(test_.claims(), "0");  // forgotten with its spent ids
    EXPECT_TRUE(runs_first(run(two_, "a")));
    EXPECT_EQ(test_.effects(), "1");
}

TEST_F(Pending, WithTheControlDatabaseAwayClaimsGoOnAndNobodyIsDead) {
    begin(one_, "dead");
    test_.end_lease(one_);
    test_.stop_control();
    EXPECT_TRUE(runs_first(run(two_, "new")));
    EXPECT_TRUE(run(one_, "new"));
    EXPECT_TRUE(replayed_);
    EXPECT_TRUE(run(two_, "dead").error().is(errors::claim_running));
    EXPECT_EQ(finish(two_), 0U);
    test_.start_control();
    while (!run(two_, "dead")) {  // until its connection is back
    }
    EXPECT_EQ(test_.effects(), "2");
}

TEST_F(Pending, AProcessThatNeverHadALeaseClaimsNothing) {
    TestProcess fresh(test_.store, test_.control_options(), false);
    EXPECT_THROW(run(fresh, "a"), runtime::Unavailable);
    EXPECT_EQ(test_.claims(), "0");
}

TEST_F(Pending, AnErrorWhileClaimingIsAnErrorAndNothingHappens) {
    ASSERT_TRUE(run(one_, "a"));
    const auto node = test_.store.map->place_of(Invites::claim_bucket).node.index;
    test_.store.script("ALTER TABLE tenon.claims RENAME TO away", node);
    EXPECT_THROW(run(one_, "a"), postgres::QueryFailed);
    EXPECT_THROW(run(one_, "b"), postgres::QueryFailed);
    test_.store.script("ALTER TABLE tenon.away RENAME TO claims", node);
    test_.store.script("UPDATE tenon.fences SET state = 'read_only' WHERE bucket = 7", node);
    EXPECT_THROW(run(one_, "b"), runtime::Unavailable);
    EXPECT_EQ(test_.effects(), "1");
    EXPECT_EQ(acted_, 1U);
}

}  // namespace
}  // namespace tenon::storage
