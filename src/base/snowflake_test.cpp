#include "base/snowflake.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <memory>
#include <set>

#include "base/errors.hpp"

namespace tenon::base {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

using Answer = Result<std::variant<Snowflake, SnowflakeWait>>;

constexpr Time start = snowflake_epoch + milliseconds(60'000'000'123);

/// Tells the times of a script, one per reading, then the last one for ever.
class ScriptedClock final : public Clock {
public:
    explicit ScriptedClock(std::vector<Time> script) : script_(std::move(script)) {}
    [[nodiscard]] Time now() const override {
        return script_[std::min(reading_++, script_.size() - 1)];
    }

private:
    std::vector<Time> script_;
    mutable std::size_t reading_ = 0;
};

NodeLease lease_of(std::uint16_t node, Time from = start - seconds(1),
                   Time until = start + seconds(60), std::uint64_t fence = 1) {
    return {.node = node, .fence = fence, .from = from, .until = until};
}

std::optional<Snowflake> id_of(const Answer& answer) {
    if (!answer || !std::holds_alternative<Snowflake>(*answer)) return std::nullopt;
    return std::get<Snowflake>(*answer);
}

std::optional<SnowflakeWait> wait_of(const Answer& answer) {
    if (!answer || !std::holds_alternative<SnowflakeWait>(*answer)) return std::nullopt;
    return std::get<SnowflakeWait>(*answer);
}

bool is_error(const Answer& answer, const ErrorType& type) {
    return !answer && answer.error().is(type);
}

// These numbers are data: ids that were handed out are read by them.
TEST(Snowflake, FixedVectors) {
    EXPECT_EQ(snowflake_epoch.time_since_epoch(), seconds(1'735'689'600));
    EXPECT_EQ(make_snowflake({.time = snowflake_epoch}).value, 0);
    EXPECT_EQ(make_snowflake({.time = snowflake_epoch + milliseconds(1)}).value, 4'194'304);
    EXPECT_EQ(make_snowflake({.time = start, .node = 5, .sequence = 9}).value,
              60'000'000'123 * 4'194'304 + 5 * 4'096 + 9);
    const auto last = snowflake_epoch + milliseconds(snowflake_milliseconds - 1);
    EXPECT_EQ(make_snowflake({.time = last, .node = 1023, .sequence = 4095}).value, INT64_MAX);
}

TEST(Snowflake, ANegativeNumberIsNone) {
    EXPECT_FALSE(read_snowflake({-1}));
    EXPECT_FALSE(read_snowflake({INT64_MIN}));
}

RC_GTEST_PROP(Snowflake, EveryPositiveNumberIsItsParts, ()) {
    const Snowflake id{*rc::gen::inRange<std::int64_t>(0, INT64_MAX)};
    const auto parts = read_snowflake(id);
    RC_ASSERT(parts.has_value());
    RC_ASSERT(parts->node < snowflake_nodes);
    RC_ASSERT(parts->sequence < snowflakes_per_millisecond);
    RC_ASSERT(make_snowflake(*parts) == id);
}

RC_GTEST_PROP(Snowflake, SortsByTimeThenNodeThenSequence, ()) {
    const auto draw = [] {
        return SnowflakeParts{
            .time = snowflake_epoch + milliseconds(*rc::gen::inRange<std::int64_t>(0, 3)),
            .node = *rc::gen::inRange<std::uint16_t>(0, 3),
            .sequence = *rc::gen::inRange<std::uint16_t>(0, 3)};
    };
    const SnowflakeParts left = draw();
    const SnowflakeParts right = draw();
    RC_ASSERT((left <=> right) == (make_snowflake(left) <=> make_snowflake(right)));
}

TEST(SnowflakeGenerator, RefusesWithoutALiveLease) {
    ManualClock clock{start};
    SnowflakeGenerator generator(clock);
    EXPECT_TRUE(is_error(generator.next(), errors::no_lease));

    ASSERT_TRUE(generator.hold(lease_of(7, start, start + seconds(10))));
    const auto id = id_of(generator.next());
    ASSERT_TRUE(id);
    EXPECT_EQ(*read_snowflake(*id), (SnowflakeParts{.time = start, .node = 7, .sequence = 0}));

    clock.set(start + seconds(10) - microseconds(1));
    EXPECT_TRUE(id_of(generator.next()));
    clock.set(start + seconds(10));
    EXPECT_TRUE(is_error(generator.next(), errors::no_lease));

    ASSERT_TRUE(generator.hold(lease_of(7, start, start + seconds(20))));
    EXPECT_TRUE(id_of(generator.next()));
    generator.release();
    EXPECT_TRUE(is_error(generator.next(), errors::no_lease));
}

TEST(SnowflakeGenerator, HasItsIdsPerMillisecondAndThenTheNextMillisecond) {
    ManualClock clock{start + microseconds(300)};
    SnowflakeGenerator generator(clock);
    ASSERT_TRUE(generator.hold(lease_of(1023)));
    Snowflake last{-1};
    for (std::uint32_t i = 0; i < snowflakes_per_millisecond; ++i) {
        const auto id = id_of(generator.next());
        ASSERT_TRUE(id);
        ASSERT_LT(last, *id);
        ASSERT_EQ(read_snowflake(*id)->sequence, i);
        last = *id;
    }
    EXPECT_EQ(wait_of(generator.next()), microseconds(700));
    clock.advance(microseconds(699));
    EXPECT_EQ(wait_of(generator.next()), microseconds(1));
    clock.advance(microseconds(1));
    const auto id = id_of(generator.next());
    ASSERT_TRUE(id);
    EXPECT_EQ(read_snowflake(*id)->sequence, 0);
    EXPECT_EQ(read_snowflake(*id)->time, start + milliseconds(1));
}

TEST(SnowflakeGenerator, WaitsOutAStepBackBelowFiftyMilliseconds) {
    const Time late = start + microseconds(900);
    ScriptedClock clock({late, late - milliseconds(50) + microseconds(1), start - microseconds(1),
                         start, late - milliseconds(50), late});
    SnowflakeGenerator generator(clock);
    ASSERT_TRUE(generator.hold(lease_of(0)));
    const auto first = id_of(generator.next());
    ASSERT_TRUE(first);
    EXPECT_EQ(wait_of(generator.next()), milliseconds(49) + microseconds(99));
    EXPECT_EQ(wait_of(generator.next()), microseconds(1));
    // Back in the millisecond of the last id: nothing to wait for.
    const auto second = id_of(generator.next());
    ASSERT_TRUE(second);
    EXPECT_EQ(second->value, first->value + 1);
    const auto refused = generator.next();
    EXPECT_TRUE(is_error(refused, errors::clock_unusable));
    EXPECT_EQ(refused.error().retry_after(), seconds(1));
    // The refusal left nothing behind.
    EXPECT_EQ(id_of(generator.next()), Snowflake{second->value + 1});
}

TEST(SnowflakeGenerator, RefusesAClockOutsideTheYearsOfIds) {
    const Time end = snowflake_epoch + milliseconds(snowflake_milliseconds);
    ScriptedClock clock({snowflake_epoch - microseconds(1), end, end - microseconds(1)});
    SnowflakeGenerator generator(clock);
    ASSERT_TRUE(generator.hold(lease_of(3, snowflake_epoch, Time::max())));
    EXPECT_TRUE(is_error(generator.next(), errors::clock_unusable));
    EXPECT_TRUE(is_error(generator.next(), errors::clock_unusable));
    EXPECT_TRUE(id_of(generator.next()));
}

TEST(SnowflakeGenerator, WaitsForTheStartOfItsLease) {
    ManualClock clock{start};
    SnowflakeGenerator generator(clock);
    ASSERT_TRUE(generator.hold(lease_of(3, start + milliseconds(20) + microseconds(1))));
    // The millisecond in which the lease begins belongs to whoever held the number before.
    EXPECT_EQ(wait_of(generator.next()), milliseconds(21));
    clock.advance(milliseconds(21));
    EXPECT_TRUE(id_of(generator.next()));
    ASSERT_TRUE(generator.hold(lease_of(4, start + seconds(9))));
    EXPECT_TRUE(is_error(generator.next(), errors::clock_unusable));
}

TEST(SnowflakeGenerator, DropsGrantsThatAreOver) {
    ManualClock clock{start};
    SnowflakeGenerator generator(clock);
    ASSERT_TRUE(generator.hold(lease_of(3, start, start + seconds(10), 5)));
    EXPECT_FALSE(generator.hold(lease_of(3, start, start + seconds(90), 4)));
    // An extension that was overtaken by a longer one changes nothing.
    ASSERT_TRUE(generator.hold(lease_of(3, start, start + seconds(9), 5)));
    EXPECT_EQ(generator.lease(), lease_of(3, start, start + seconds(10), 5));

    generator.release();
    const auto late = generator.hold(lease_of(3, start, start + seconds(90), 5));
    ASSERT_FALSE(late);
    EXPECT_TRUE(late.error().is(errors::no_lease));
    EXPECT_FALSE(generator.lease());

    ASSERT_TRUE(generator.hold(lease_of(3, start, start + seconds(90), 6)));
    ASSERT_TRUE(generator.hold(lease_of(2, start, start + seconds(90), 1)));
    EXPECT_FALSE(generator.hold(lease_of(3, start, start + seconds(90), 6)));
    EXPECT_EQ(generator.lease(), lease_of(2, start, start + seconds(90), 1));
}

TEST(SnowflakeGenerator, ASmallerNodeNumberBeginsWithTheNextMillisecond) {
    ManualClock clock{start};
    SnowflakeGenerator generator(clock);
    ASSERT_TRUE(generator.hold(lease_of(9)));
    const auto before = id_of(generator.next());
    ASSERT_TRUE(generator.hold(lease_of(2)));
    EXPECT_EQ(wait_of(generator.next()), milliseconds(1));
    clock.advance(milliseconds(1));
    const auto after = id_of(generator.next());
    ASSERT_TRUE(before && after);
    EXPECT_LT(*before, *after);
}

/// What the documentation promises, said again without the generator's shortcuts: from the ids
/// made so far to what the next answer must be.
struct Model {
    std::optional<SnowflakeParts> last;
    Time latest = Time::min();  ///< the highest reading that made an id

    enum class Verdict { id, wait, no_lease, clock };

    [[nodiscard]] Verdict expect(const NodeLease& lease, Time now) const {
        if (now >= lease.until) return Verdict::no_lease;
        if (now + milliseconds(50) <= std::max(latest, lease.from)) return Verdict::clock;
        return next(lease, now) ? Verdict::id : Verdict::wait;
    }

    /// The id of this moment, if there is one left that is greater than the last.
    [[nodiscard]] std::optional<SnowflakeParts> next(const NodeLease& lease, Time now) const {
        SnowflakeParts parts{.time = std::chrono::floor<milliseconds>(now), .node = lease.node};
        if (parts.time < lease.from) return std::nullopt;
        if (!last || parts.time > last->time) return parts;
        if (parts.time < last->time || lease.node != last->node || last->sequence == 4095) {
            return std::nullopt;
        }
        parts.sequence = static_cast<std::uint16_t>(last->sequence + 1);
        return parts;
    }
};

Model::Verdict verdict_of(const Answer& answer) {
    if (is_error(answer, errors::no_lease)) return Model::Verdict::no_lease;
    if (!answer) return Model::Verdict::clock;
    return id_of(answer) ? Model::Verdict::id : Model::Verdict::wait;
}

/// Asks once and compares with the model.
Answer ask(SnowflakeGenerator& generator, Model& model, const NodeLease& lease, Time now) {
    auto answer = generator.next();
    RC_ASSERT(verdict_of(answer) == model.expect(lease, now));
    if (const auto id = id_of(answer)) {
        RC_ASSERT(read_snowflake(*id) == model.next(lease, now));
        if (model.last) RC_ASSERT(make_snowflake(*model.last) < *id);
        model.last = read_snowflake(*id);
        model.latest = std::max(model.latest, now);
    }
    return answer;
}

/// Another grant, beginning near `now`.
NodeLease regrant(NodeLease lease, Time now, int jump) {
    lease.node = static_cast<std::uint16_t>(500 + std::abs(jump) % 3);
    lease.fence += 1;
    lease.from = std::max(lease.from, now - microseconds(jump % 60'000));
    lease.until = lease.from + milliseconds(400);
    return lease;
}

RC_GTEST_PROP(SnowflakeGenerator, DoesWhatTheModelSaysWhileTheClockJumps, ()) {
    ManualClock clock{start};
    SnowflakeGenerator generator(clock);
    Model model;
    NodeLease lease = lease_of(500, start - milliseconds(5), start + milliseconds(400));
    RC_ASSERT(generator.hold(lease).has_value());
    const auto jumps = *rc::gen::container<std::vector<int>>(rc::gen::inRange(-70'000, 90'000));
    for (const int jump : jumps) {
        clock.advance(microseconds(jump % 3 == 0 ? jump : jump / 100));
        if (jump % 11 == 0) {
            lease = regrant(lease, clock.now(), jump);
            RC_ASSERT(generator.hold(lease).has_value());
        }
        for (int i = 0; i < (jump % 7 == 0 ? 5'000 : 3); ++i) {
            const auto wait = wait_of(ask(generator, model, lease, clock.now()));
            if (!wait) continue;
            RC_ASSERT(*wait > microseconds(0));
            RC_ASSERT(*wait <= milliseconds(51));
            if (i % 2 == 0) clock.advance(*wait);
        }
    }
}

RC_GTEST_PROP(SnowflakeGenerator, AfterTheWaitThereIsAnId, ()) {
    ManualClock clock{start};
    SnowflakeGenerator generator(clock);
    RC_ASSERT(generator.hold(lease_of(1, start, Time::max())).has_value());
    for (int i = 0; i < 40; ++i) {
        const auto answer = generator.next();
        if (const auto wait = wait_of(answer)) {
            clock.advance(*wait);
            RC_ASSERT(id_of(generator.next()).has_value());
        }
        clock.advance(microseconds(*rc::gen::inRange(-1'500, 1'500)));
    }
}

// The lender of the documentation: stretches of a number follow one another, whatever the clocks
// of the processes that hold them say.
RC_GTEST_PROP(SnowflakeGenerator, ProcessesWithOtherClocksNeverMakeOneIdTwice, ()) {
    constexpr std::size_t processes = 3;
    std::vector<std::unique_ptr<ManualClock>> clocks;
    std::vector<std::unique_ptr<SnowflakeGenerator>> generators;
    for (std::size_t i = 0; i < processes; ++i) {
        const int skew = *rc::gen::inRange(-30'000, 30'000);
        clocks.push_back(std::make_unique<ManualClock>(start + microseconds(skew)));
        generators.push_back(std::make_unique<SnowflakeGenerator>(*clocks.back()));
    }
    NodeLease lease = lease_of(8, start, start, 0);
    std::set<Snowflake> ids;
    for (int grant = 0; grant < 20; ++grant) {
        const auto holder = *rc::gen::inRange<std::size_t>(0, processes);
        lease = {.node = 8, .fence = lease.fence + 1, .from = lease.until, .until = lease.until};
        lease.until += microseconds(*rc::gen::inRange(1, 20'000));
        RC_ASSERT(generators[holder]->hold(lease).has_value());
        for (int step = 0; step < 20; ++step) {
            const auto asked = *rc::gen::inRange<std::size_t>(0, processes);
            clocks[asked]->advance(microseconds(*rc::gen::inRange(-2'000, 4'000)));
            if (const auto id = id_of(generators[asked]->next())) RC_ASSERT(ids.insert(*id).second);
        }
    }
}

}  // namespace
}  // namespace tenon::base
