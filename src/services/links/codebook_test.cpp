#include "services/links/codebook.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

namespace tenon::links {
namespace {

const base::Bijection bijection(base::BijectionKey{4, 5, 6});
constexpr base::Bucket bucket{77};

TEST(CodeBook, HasNothingBeforeAGrant) {
    CodeBook codes(bijection);
    EXPECT_EQ(codes.draw(bucket), std::nullopt);
}

RC_GTEST_PROP(CodeBook, DrawsEveryUsableCodeOfItsRangeOnce, ()) {
    const auto first = *rc::gen::inRange<std::uint64_t>(0, 1'000'000);
    const auto count = *rc::gen::inRange<std::uint64_t>(0, 200);
    CodeBook codes(bijection);
    codes.grant(bucket, first, count);
    std::set<std::string> drawn;
    while (const auto code = codes.draw(bucket)) {
        RC_ASSERT(drawn.insert(*code).second);
        const auto number = base::read_code(bijection, *code);
        RC_ASSERT(number.has_value());
        RC_ASSERT(number->slot == base::slot_of(bucket));
        RC_ASSERT(number->k >= first && number->k < first + count);
    }
    std::size_t usable = 0;
    for (auto k = first; k < first + count; ++k) {
        usable += base::make_code(bijection, {.k = k, .slot = base::slot_of(bucket)}) ? 1 : 0;
    }
    RC_ASSERT(drawn.size() == usable);
}

TEST(CodeBook, WishesForMoreTheMoreABucketIsUsed) {
    CodeBook codes(bijection);
    std::uint64_t last = 0;
    for (int i = 0; i < 20; ++i) {
        const auto wish = codes.wish(bucket);
        EXPECT_GE(wish, last);
        EXPECT_LE(wish, 1'024U);
        last = wish;
    }
    EXPECT_EQ(last, 1'024U);
    EXPECT_EQ(codes.wish(base::Bucket{78}), 16U);
}

TEST(CodeBook, WishesForMoreTheMoreASpaceIsUsed) {
    CodeBook codes(bijection);
    base::SeededRandom random(4);
    std::uint64_t wish = 0;
    for (int i = 0; i < 7; ++i) {
        const auto picked = codes.pick(base::Space{}, random);
        wish = codes.wish(picked);
        codes.grant(picked, 0, 0);
    }
    EXPECT_EQ(wish, 1'024U);
    EXPECT_EQ(codes.wish(codes.pick(base::Space{1}, random)), 16U);
}

TEST(CodeBook, StaysWithABucketUntilItsRangeIsDrawn) {
    CodeBook codes(bijection);
    base::SeededRandom random(1);
    const auto picked = codes.pick(base::Space{}, random);
    codes.grant(picked, 0, 50);
    while (codes.draw(picked)) {
        const auto next = codes.pick(base::Space{}, random);
        if (next == picked) continue;
        EXPECT_EQ(codes.draw(picked), std::nullopt);
        return;
    }
    EXPECT_EQ(codes.draw(picked), std::nullopt);
}

TEST(CodeBook, ABurstBeforeTheLeaseAsksForOneBucket) {
    CodeBook codes(bijection);
    base::SeededRandom random(3);
    const auto picked = codes.pick(base::Space{}, random);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(codes.pick(base::Space{}, random), picked);
}

TEST(CodeBook, SpreadsOverAllBucketsOfASpace) {
    CodeBook codes(bijection);
    base::SeededRandom random(2);
    std::set<base::Bucket> seen;
    for (int i = 0; i < 20'000; ++i) {
        const auto picked = codes.pick(base::Space{2}, random);
        seen.insert(picked);
        codes.grant(picked, 0, 0);
    }
    EXPECT_EQ(seen.size(), base::slots_total);
    EXPECT_EQ(seen.begin()->value, 2'048);
    EXPECT_EQ(seen.rbegin()->value, 3'071);
}

}  // namespace
}  // namespace tenon::links
