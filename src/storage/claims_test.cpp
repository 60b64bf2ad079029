#include "storage/claims.hpp"

#include <gtest/gtest.h>

#include "storage/errors.hpp"
#include "storage/failure.hpp"

namespace tenon::storage {
namespace {

const base::Digest first = base::sha256("first");

TEST(DecideRepeat, GivesTheStoredAnswer) {
    const StoredClaim stored{
        .fingerprint = first, .pending = false, .outcome = "links.taken", .answer = "{}"};
    const auto repeat = decide_repeat(stored, first);
    ASSERT_TRUE(repeat);
    EXPECT_EQ(repeat->outcome, "links.taken");
    EXPECT_EQ(repeat->answer, "{}");
}

TEST(DecideRepeat, RefusesAnotherBodyWhetherPendingOrNot) {
    for (const bool pending : {false, true}) {
        const StoredClaim stored{
            .fingerprint = first, .pending = pending, .outcome = "", .answer = ""};
        const auto repeat = decide_repeat(stored, base::sha256("second"));
        ASSERT_FALSE(repeat);
        EXPECT_TRUE(repeat.error().is(errors::claim_mismatch));
    }
}

TEST(DecideRepeat, AsksToRepeatLaterWhileTheFirstRuns) {
    const StoredClaim stored{.fingerprint = first, .pending = true, .outcome = "", .answer = ""};
    const auto repeat = decide_repeat(stored, first);
    ASSERT_FALSE(repeat);
    EXPECT_TRUE(repeat.error().is(errors::claim_running));
    EXPECT_GT(repeat.error().retry_after().count(), 0);
}

TEST(BucketsMoved, ReadsTheFencesDetail) {
    const auto buckets = read_refused_buckets("5,6,1047");
    ASSERT_EQ(buckets.size(), 3U);
    EXPECT_EQ(buckets[2].value, 1047);
    EXPECT_TRUE(read_refused_buckets("").empty());
    EXPECT_EQ(read_refused_buckets("7,x,8").size(), 1U);
    const BucketsMoved moved("a", buckets);
    EXPECT_EQ(moved.retry_after().count(), 1);
    EXPECT_EQ(std::string(moved.what()),
              "storage.moved: node a does not own bucket 5, 6, 1047 under this map");
}

}  // namespace
}  // namespace tenon::storage
