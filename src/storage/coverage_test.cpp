#include "storage/coverage.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

namespace tenon::storage {
namespace {

Owned asked(std::uint32_t node, std::vector<ServedBucket> pairs) {
    return make_owned(Node{node}, std::move(pairs));
}

/// The part of a node that serves `pairs`, as its statement gives it.
ServedPart part(std::uint32_t node, const std::vector<ServedBucket>& pairs,
                const std::vector<Owned>& all) {
    ServedPart made{.node = {node},
                    .total = static_cast<std::int32_t>(pairs.size()),
                    .digest = digest_of(pairs),
                    .pairs = pairs};
    for (const Owned& owned : all) {
        if (owned.node == made.node && owned.digest == made.digest) made.pairs.clear();
    }
    return made;
}

class Coverage : public testing::Test {
protected:
    const std::vector<Owned> asked_{asked(0, {{{0}, 1}, {{2}, 1}}), asked(1, {{{1}, 4}, {{3}, 1}})};
};

TEST_F(Coverage, IsWholeWhenEachNodeServesWhatItWasAskedFor) {
    const std::vector parts{part(0, asked_[0].pairs, asked_), part(1, asked_[1].pairs, asked_)};
    EXPECT_TRUE(parts[0].pairs.empty());
    EXPECT_TRUE(judge_coverage(asked_, parts).empty());
}

TEST_F(Coverage, NamesWhatANodeThatGaveNothingLeavesMissing) {
    const std::vector parts{part(0, asked_[0].pairs, asked_)};
    EXPECT_EQ(judge_coverage(asked_, parts).missing, (std::vector<base::Bucket>{{1}, {3}}));
}

TEST_F(Coverage, NamesABucketThatTwoNodesServe) {
    const std::vector parts{part(0, asked_[0].pairs, asked_),
                            part(1, {{{1}, 4}, {{2}, 2}, {{3}, 1}}, asked_)};
    const Gaps gaps = judge_coverage(asked_, parts);
    EXPECT_EQ(gaps, (Gaps{.missing = {}, .repeated = {{2}}, .differing = {}}));
    EXPECT_EQ(describe_gaps(gaps), "bucket 2 served twice");
}

TEST_F(Coverage, NamesWhatIsServedUnderAnotherMap) {
    // Bucket 2 has moved to node 1, bucket 1 has another epoch, and nobody knew of bucket 1024.
    const std::vector parts{part(0, {{{0}, 1}}, asked_),
                            part(1, {{{1}, 5}, {{2}, 2}, {{3}, 1}, {{1'024}, 1}}, asked_)};
    EXPECT_EQ(judge_coverage(asked_, parts).all(), (std::vector<base::Bucket>{{1}, {2}, {1'024}}));
    EXPECT_EQ(judge_coverage(asked_, parts).differing.size(), 3U);
}

TEST_F(Coverage, ADigestWithAnotherCountIsNotBelieved) {
    std::vector parts{part(0, asked_[0].pairs, asked_), part(1, asked_[1].pairs, asked_)};
    parts[1].total = 1;
    EXPECT_EQ(judge_coverage(asked_, parts).missing, (std::vector<base::Bucket>{{1}, {3}}));
}

TEST(OwnedByNodes, HasABitForEachOfItsBuckets) {
    const auto all = owned_by_nodes(Map::spread({{"a", ""}, {"b", ""}, {"c", ""}}, 2));
    ASSERT_EQ(all.size(), 3U);
    for (std::size_t bucket = 0; bucket < 2'048; ++bucket) {
        for (const Owned& owned : all) {
            const bool has =
                bucket / 8 < owned.bits.size() && (owned.bits[bucket / 8] >> bucket % 8 & 1) == 1;
            EXPECT_EQ(has, owned.node.index == bucket % 3) << bucket;
        }
    }
}

constexpr std::int32_t buckets_max = 12;

using Served = std::map<std::uint32_t, std::map<std::int32_t, std::int64_t>>;

std::vector<ServedBucket> pairs_of(const std::map<std::int32_t, std::int64_t>& served) {
    std::vector<ServedBucket> pairs;
    for (const auto& [bucket, epoch] : served)
        pairs.push_back({.bucket = {bucket}, .epoch = epoch});
    return pairs;
}

/// What is wrong with one bucket, by looking at every node.
void judge_one(std::int32_t bucket, const Served& wanted, const Served& served, Gaps& gaps) {
    std::vector<std::pair<std::uint32_t, std::int64_t>> is;
    std::vector<std::pair<std::uint32_t, std::int64_t>> ought;
    for (std::uint32_t node = 0; node < 3; ++node) {
        if (served.at(node).contains(bucket)) is.emplace_back(node, served.at(node).at(bucket));
        if (wanted.at(node).contains(bucket)) ought.emplace_back(node, wanted.at(node).at(bucket));
    }
    if (is == ought) return;
    auto& kind = is.empty() ? gaps.missing : is.size() > 1 ? gaps.repeated : gaps.differing;
    kind.push_back({bucket});
}

RC_GTEST_PROP(CoverageModel, IsWhatLookingAtEveryBucketGives, ()) {
    Served wanted{{0, {}}, {1, {}}, {2, {}}};
    for (std::int32_t bucket = 0; bucket < buckets_max; ++bucket) {
        const auto node = *rc::gen::inRange<std::uint32_t>(0, 4);  // 3: not in the map
        if (node < 3) wanted[node][bucket] = *rc::gen::inRange<std::int64_t>(1, 3);
    }
    Served served = wanted;
    const auto changes = *rc::gen::inRange(0, 4);
    for (int change = 0; change < changes; ++change) {
        auto& at = served[*rc::gen::inRange<std::uint32_t>(0, 3)];
        const auto bucket = *rc::gen::inRange<std::int32_t>(0, buckets_max);
        const auto epoch = *rc::gen::inRange<std::int64_t>(0, 4);  // 0: not served there
        epoch == 0 ? void(at.erase(bucket)) : void(at[bucket] = epoch);
    }
    std::vector<Owned> all;
    for (const auto& [node, pairs] : wanted) all.push_back(asked(node, pairs_of(pairs)));
    std::vector<ServedPart> parts;
    for (const auto& [node, pairs] : served) parts.push_back(part(node, pairs_of(pairs), all));
    Gaps gaps;
    for (std::int32_t bucket = 0; bucket < buckets_max; ++bucket) {
        judge_one(bucket, wanted, served, gaps);
    }
    RC_ASSERT(judge_coverage(all, parts) == gaps);
}

}  // namespace
}  // namespace tenon::storage
