#include "base/uuid.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

namespace tenon::base {
namespace {

constexpr Time start{std::chrono::milliseconds{1'796'000'000'123}};

/// Draws only ones: the highest seed and the widest steps.
class AllOnes final : public Random {
public:
    void fill(std::span<std::uint8_t> out) override { std::ranges::fill(out, 255); }
    [[nodiscard]] std::uint64_t next() override { return UINT64_MAX; }
};

TEST(Uuid, TextOfTheRfcExample) {
    const auto id = parse_uuid("017F22E2-79B0-7CC3-98C4-DC0C0C07398F");
    ASSERT_TRUE(id);
    EXPECT_EQ(format_uuid(*id), "017f22e2-79b0-7cc3-98c4-dc0c0c07398f");
    EXPECT_EQ(time_of(*id), Time(std::chrono::milliseconds(0x017f22e279b0)));
}

TEST(Uuid, RefusesOtherForms) {
    for (const std::string_view text :
         {"", "017f22e279b07cc398c4dc0c0c07398f", "{017f22e2-79b0-7cc3-98c4-dc0c0c07398f}",
          "017f22e2-79b0-7cc3-98c4-dc0c0c07398", "017f22e2-79b0-7cc3-98c4-dc0c0c07398ff",
          "017f22e2-79b0-7cc3-98c4-dc0c0c07398g", "017f22e2x79b0-7cc3-98c4-dc0c0c07398f",
          "017f22e-279b0-7cc3-98c4-dc0c0c07398f"}) {
        EXPECT_FALSE(parse_uuid(text)) << text;
    }
}

RC_GTEST_PROP(Uuid, TextRoundTrip, (const std::array<std::uint8_t, 16>& bytes)) {
    const Uuid id{bytes};
    RC_ASSERT(parse_uuid(format_uuid(id)) == id);
}

RC_GTEST_PROP(Uuid, TextSortsAsBytes,
              (const std::array<std::uint8_t, 16>& left,
               const std::array<std::uint8_t, 16>& right)) {
    RC_ASSERT((Uuid{left} < Uuid{right}) == (format_uuid(Uuid{left}) < format_uuid(Uuid{right})));
}

TEST(UuidV4, CarriesVersionAndVariant) {
    SeededRandom random(1);
    std::set<Uuid> ids;
    for (int i = 0; i < 1'000; ++i) {
        const Uuid id = make_uuid_v4(random);
        EXPECT_EQ(id.bytes[6] >> 4, 4);
        EXPECT_EQ(id.bytes[8] >> 6, 2);
        ids.insert(id);
    }
    EXPECT_EQ(ids.size(), 1'000u);
}

RC_GTEST_PROP(UuidV7, CarriesTimeSlotVersionAndVariant, (std::uint64_t seed)) {
    const auto milliseconds = *rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 47);
    const Slot slot{*rc::gen::inRange<std::uint16_t>(0, slots_total)};
    ManualClock clock{Time(std::chrono::milliseconds(milliseconds))};
    SeededRandom random(seed);
    UuidV7Generator generator(clock, random);
    const Uuid id = generator.next(slot);
    RC_ASSERT(slot_of(id) == slot);
    RC_ASSERT(time_of(id) == clock.now());
    RC_ASSERT((id.bytes[6] >> 4) == 7);
    RC_ASSERT((id.bytes[8] >> 6) == 2);
}

RC_GTEST_PROP(UuidV7, IncreasesPerSlotWhileTheClockJumps, (std::uint64_t seed)) {
    ManualClock clock{start};
    SeededRandom random(seed);
    UuidV7Generator generator(clock, random);
    std::array<Uuid, 3> last{};
    Time latest = start;
    const auto jumps =
        *rc::gen::container<std::vector<int>>(rc::gen::inRange(-5'000'000, 5'000'000));
    for (const int jump : jumps) {
        clock.advance(std::chrono::microseconds(jump));
        latest = std::max(latest, clock.now());
        for (int i = 0; i < 6; ++i) {
            const std::size_t slot = random.below(last.size());
            const Uuid id = generator.next({static_cast<std::uint16_t>(slot)});
            RC_ASSERT(last[slot] < id);
            RC_ASSERT(time_of(id) <= latest);
            last[slot] = id;
        }
    }
}

TEST(UuidV7, FollowsTheClockAgainAfterAStepBack) {
    ManualClock clock{start};
    SeededRandom random(3);
    UuidV7Generator generator(clock, random);
    const Uuid before = generator.next({5});
    clock.advance(std::chrono::seconds(-30));
    const Uuid during = generator.next({5});
    EXPECT_LT(before, during);
    EXPECT_EQ(time_of(during), time_of(before));
    // A slot that made no id before the step takes the clock as it is.
    EXPECT_LT(time_of(generator.next({6})), time_of(before));
    clock.advance(std::chrono::seconds(31));
    EXPECT_EQ(time_of(generator.next({5})), time_of(before) + std::chrono::seconds(1));
}

TEST(UuidV7, BorrowsTheNextMillisecondWhenTheCounterRunsOver) {
    ManualClock clock{start};
    AllOnes random;
    UuidV7Generator generator(clock, random);
    const std::uint64_t room = std::uint64_t{1} << (63 - UuidV7Generator::step_bits);
    Uuid last = generator.next({1});
    for (std::uint64_t i = 0; i < room; ++i) {
        const Uuid id = generator.next({1});
        ASSERT_LT(last, id);
        ASSERT_EQ(time_of(id), start);
        last = id;
    }
    const Uuid next = generator.next({1});
    EXPECT_LT(last, next);
    EXPECT_EQ(time_of(next), start + std::chrono::milliseconds(1));
    EXPECT_EQ(slot_of(next), Slot{1});
}

TEST(UuidV7, BeginsAtTheEpochUnderAClockBeforeIt) {
    ManualClock clock{Time(std::chrono::hours(-5))};
    SeededRandom random(3);
    UuidV7Generator generator(clock, random);
    const Uuid first = generator.next({0});
    EXPECT_EQ(time_of(first), Time{});
    EXPECT_LT(first, generator.next({0}));
}

}  // namespace
}  // namespace tenon::base
