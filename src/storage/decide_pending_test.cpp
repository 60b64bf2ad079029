// The rules of pending claims, and a model in which processes die, stand still and come back.
#include "storage/decide_pending.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "storage/errors.hpp"

namespace tenon::storage {
namespace {

using namespace std::chrono_literals;

const base::Digest body = base::sha256("body");
constexpr auto hold_max = 10min;

Hold held_by(std::int64_t holder, std::chrono::milliseconds age = 0ms) {
    return {.id = base::Uuid{{1}}, .holder = holder, .kind = "k", .drawn = "d", .age = age};
}

SeenClaim pending(const Hold& hold) {
    return {.claim = {.fingerprint = body, .pending = true, .outcome = "", .answer = ""},
            .hold = hold};
}

TEST(JudgeHolder, KnowsItsOwnTheGivenUpAndTheOld) {
    EXPECT_EQ(judge_holder(held_by(5), 5, hold_max), Holder::alive);
    EXPECT_EQ(judge_holder(held_by(0), 5, hold_max), Holder::dead);
    EXPECT_EQ(judge_holder(held_by(5, hold_max), 5, hold_max), Holder::dead);
    EXPECT_EQ(judge_holder(held_by(4, hold_max), 5, hold_max), Holder::dead);
    EXPECT_EQ(judge_holder(held_by(4, hold_max - 1ms), 5, hold_max), std::nullopt);
}

TEST(JudgeHolder, ProcessWithoutALeaseKnowsOnlyTheGivenUp) {
    EXPECT_EQ(judge_holder(held_by(0), 0, hold_max), Holder::dead);
    EXPECT_EQ(judge_holder(held_by(3), 0, hold_max), std::nullopt);
}

TEST(DecidePending, TakesOverFromTheDeadAndWaitsForTheLiving) {
    EXPECT_EQ(*decide_pending(pending(held_by(4)), body, Holder::dead), RepeatStep::take_over);
    const auto waits = decide_pending(pending(held_by(4)), body, Holder::alive);
    ASSERT_FALSE(waits);
    EXPECT_TRUE(waits.error().is(errors::claim_running));
    EXPECT_GT(waits.error().retry_after().count(), 0);
}

TEST(DecidePending, ReplaysWhatIsSettledWhoeverHeldIt) {
    const SeenClaim settled{
        .claim = {.fingerprint = body, .pending = false, .outcome = "", .answer = "{}"},
        .hold = std::nullopt};
    for (const auto holder : {Holder::alive, Holder::dead}) {
        EXPECT_EQ(*decide_pending(settled, body, holder), RepeatStep::replay);
    }
}

TEST(DecidePending, NeverTakesOverUnderAnotherBody) {
    for (const auto holder : {Holder::alive, Holder::dead}) {
        const auto refused = decide_pending(pending(held_by(4)), base::sha256("other"), holder);
        ASSERT_FALSE(refused);
        EXPECT_TRUE(refused.error().is(errors::claim_mismatch));
    }
}

TEST(DecidePending, WaitsForAPendingClaimThatNobodyCanTakeOver) {
    const SeenClaim bare{.claim = pending(held_by(4)).claim, .hold = std::nullopt};
    EXPECT_TRUE(decide_pending(bare, body, Holder::dead).error().is(errors::claim_running));
}

/// The stores of two nodes. Each method is one transaction.
class World {
public:
    /// Without tombstones it shows what they are for.
    explicit World(bool keeps_tombstones = true) : keeps_tombstones_(keeps_tombstones) {}

    /// The claim's node.
    std::optional<SeenClaim> claim;

    bool insert(const Hold& hold) {
        if (claim) return false;
        claim = pending(hold);
        return true;
    }
    bool change_hold(const base::Uuid& from, const Hold& to) {
        if (!holds(from)) return false;
        claim->hold = to;
        return true;
    }
    bool settle(const base::Uuid& hold, const std::string& answer) {
        if (!holds(hold)) return false;
        claim = SeenClaim{
            .claim = {.fingerprint = body, .pending = false, .outcome = "", .answer = answer},
            .hold = std::nullopt};
        return true;
    }
    bool forget(const base::Uuid& hold) {
        if (!holds(hold)) return false;
        claim.reset();
        return true;
    }

    /// The effect's node. False when it was undone.
    bool act(const std::string& id) {
        if (tombstones.contains(id)) return false;
        effects.insert(id);
        return true;
    }
    /// False when the effect is there and stays.
    bool undo(const std::string& id) {
        if (effects.contains(id)) return false;
        if (keeps_tombstones_) tombstones.insert(id);
        return true;
    }
    std::set<std::string> effects;
    std::set<std::string> tombstones;

    base::Uuid draw() {
        base::Uuid id;
        id.bytes[0] = static_cast<std::uint8_t>(++drawn_ % 256);
        id.bytes[1] = static_cast<std::uint8_t>(drawn_ / 256);
        return id;
    }

private:
    [[nodiscard]] bool holds(const base::Uuid& hold) const {
        return claim && claim->hold && claim->hold->id == hold;
    }
    const bool keeps_tombstones_;
    int drawn_ = 0;
};

/// A request, or a finisher, between two of its transactions.
struct Actor {
    enum class At { start, take, act, settle, forget, end };
    At at = At::start;
    bool is_finisher = false;
    std::int64_t process = 0;
    Hold seen;  ///< to be taken
    Hold mine;
    std::string answer;  ///< given to the client
};

/// Processes, some dead or thought so, and what runs in them.
class Model {
public:
    explicit Model(bool keeps_tombstones = true) : world(keeps_tombstones) {}

    World world;
    std::vector<Actor> actors;
    std::set<std::int64_t> thought_dead;  ///< by the control database; they may still run
    std::vector<std::string> answers;

    std::size_t start(std::int64_t process, bool is_finisher) {
        auto& actor = actors.emplace_back();
        actor.is_finisher = is_finisher;
        actor.process = process;
        return actors.size() - 1;
    }
    void crash(std::int64_t process) {
        thought_dead.insert(process);
        for (auto& actor : actors) {
            if (actor.process == process) actor.at = Actor::At::end;
        }
    }
    void step(std::size_t index) {
        auto& actor = actors[index];
        switch (actor.at) {
            case Actor::At::start:
                return begin(actor);
            case Actor::At::take:
                return take(actor);
            case Actor::At::act:
                return actor.is_finisher ? finish(actor) : act(actor);
            case Actor::At::settle:
                return settle(actor);
            case Actor::At::forget:
                world.forget(actor.mine.id);
                actor.at = Actor::At::end;
                return;
            case Actor::At::end:
                return;
        }
    }

private:
    Hold hold_of(const Actor& actor, const std::string& drawn) {
        auto hold = held_by(actor.process);
        hold.id = world.draw();
        hold.drawn = drawn.empty() ? base::format_uuid(hold.id) : drawn;
        return hold;
    }
    [[nodiscard]] Holder judge(const Actor& actor, const Hold& hold) const {
        if (const auto known = judge_holder(hold, actor.process, hold_max)) return *known;
        return thought_dead.contains(hold.holder) ? Holder::dead : Holder::alive;
    }
    void begin(Actor& actor) {
        actor.at = Actor::At::end;
        if (!actor.is_finisher) {
            actor.mine = hold_of(actor, "");
            if (world.insert(actor.mine)) {
                actor.at = Actor::At::act;
                return;
            }
        }
        if (!world.claim) return;
        const auto& hold = world.claim->hold;
        const auto holder = hold ? judge(actor, *hold) : Holder::alive;
        const auto step = decide_pending(*world.claim, body, holder);
        if (!step) return;
        if (*step == RepeatStep::replay) return answer(actor, world.claim->claim.answer);
        actor.seen = *hold;
        actor.at = Actor::At::take;
    }
    void take(Actor& actor) {
        actor.mine = hold_of(actor, actor.seen.drawn);
        const bool taken = world.change_hold(actor.seen.id, actor.mine);
        // A request that lost the claim looks again; a finisher leaves it to the winner.
        const auto lost = actor.is_finisher ? Actor::At::end : Actor::At::start;
        actor.at = taken ? Actor::At::act : lost;
    }
    void act(Actor& actor) {
        actor.at = world.act(actor.mine.drawn) ? Actor::At::settle : Actor::At::forget;
    }
    void finish(Actor& actor) {
        actor.at = world.undo(actor.mine.drawn) ? Actor::At::forget : Actor::At::settle;
    }
    void settle(Actor& actor) {
        actor.at = Actor::At::end;
        if (world.settle(actor.mine.id, actor.mine.drawn)) return answer(actor, actor.mine.drawn);
        if (world.claim && !world.claim->claim.pending) answer(actor, world.claim->claim.answer);
    }
    void answer(Actor& actor, const std::string& text) {
        actor.answer = text;
        if (!actor.is_finisher) answers.push_back(text);
    }
};

void check(const Model& model) {
    RC_ASSERT(model.world.effects.size() <= 1U);
    for (const auto& answer : model.answers) RC_ASSERT(model.world.effects.contains(answer));
}

void do_something(Model& model) {
    const auto process = *rc::gen::inRange<std::int64_t>(1, 5);
    switch (*rc::gen::weightedElement<int>({{3, 0}, {1, 1}, {1, 2}, {1, 3}, {1, 4}, {12, 5}})) {
        case 0:
            model.start(process, false);
            return;
        case 1:
            model.start(process, true);
            return;
        case 2:
            model.crash(process);
            return;
        case 3:
            model.thought_dead.insert(process);
            return;  // it stands still, or is cut off
        case 4:
            model.thought_dead.erase(process);
            return;  // it is back
        default:
            if (!model.actors.empty())
                model.step(*rc::gen::inRange<std::size_t>(0, model.actors.size()));
    }
}

RC_GTEST_PROP(PendingModel, ExactlyOneEffectSurvives, ()) {
    Model model;
    const int events = *rc::gen::inRange(1, 120);
    for (int event = 0; event < events; ++event) {
        do_something(model);
        check(model);
    }
    // Whatever was left, one more client that repeats gets its answer within a few repeats.
    for (std::int64_t process = 1; process < 5; ++process) model.thought_dead.insert(process);
    for (int repeats = 0;
         model.answers.empty() || !model.world.claim || model.world.claim->claim.pending;) {
        RC_ASSERT(++repeats < 4);
        const auto last = model.start(9, false);
        while (model.actors[last].at != Actor::At::end) {
            model.step(last);
            check(model);
        }
    }
    // And those who stood still wake up last.
    for (std::size_t actor = 0; actor < model.actors.size(); ++actor) {
        for (int steps = 0; model.actors[actor].at != Actor::At::end; ++steps) {
            RC_ASSERT(steps < 8);
            model.step(actor);
            check(model);
        }
    }
    RC_ASSERT(model.world.effects.size() == 1U);
}

/// One that stands still before its effect, while its claim is undone and the key used again.
std::size_t effects_with_a_late_writer(bool keeps_tombstones) {
    Model model(keeps_tombstones);
    const auto late = model.start(1, false);
    model.step(late);  // has claimed
    model.thought_dead.insert(1);
    const auto finisher = model.start(2, true);
    while (model.actors[finisher].at != Actor::At::end) model.step(finisher);
    const auto next = model.start(3, false);
    while (model.actors[next].at != Actor::At::end) model.step(next);
    while (model.actors[late].at != Actor::At::end) model.step(late);
    return model.world.effects.size();
}

TEST(PendingModel, ATombstoneIsWhatStopsALateWriter) {
    EXPECT_EQ(effects_with_a_late_writer(true), 1U);
    EXPECT_EQ(effects_with_a_late_writer(false), 2U);
}

}  // namespace
}  // namespace tenon::storage
