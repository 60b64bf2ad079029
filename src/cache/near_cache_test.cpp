#include "cache/near_cache.hpp"

#include <gtest/gtest.h>

#include <string>

namespace tenon::cache {
namespace {

using namespace std::chrono_literals;
using Texts = NearCache<std::string>;

Texts::Pointer text(std::string value) {
    return std::make_shared<const std::string>(std::move(value));
}

NearCacheOptions plain_options() {
    return {.bytes_max = 1 << 20,
            .entry_bytes_max = 4 << 10,
            .ttl = 5s,
            .ttl_jitter = 0,
            .negative_ttl = 1s,
            .seed = 7};
}

class NearCacheTest : public testing::Test {
protected:
    Texts cache{plain_options()};
    Instant now{1h};

    void fill(std::string_view key, std::string value) {
        ASSERT_TRUE(cache.put(cache.begin_load(key, now), text(std::move(value)), 100));
    }
    std::string found(std::string_view key) const {
        const auto entry = cache.get(key, now);
        if (!entry) return "(not known)";
        return entry->value ? *entry->value : "(absent)";
    }
};

TEST_F(NearCacheTest, ReturnsWhatALoadPut) {
    EXPECT_EQ(found("a"), "(not known)");
    fill("a", "1");
    EXPECT_EQ(found("a"), "1");
    EXPECT_EQ(found("b"), "(not known)");
}

TEST_F(NearCacheTest, TtlCountsFromTheBeginningOfTheLoad) {
    const auto ticket = cache.begin_load("a", now);
    now += 4s;
    ASSERT_TRUE(cache.put(ticket, text("1"), 1));
    EXPECT_EQ(found("a"), "1");
    now += 1s - 1ns;
    EXPECT_EQ(found("a"), "1");
    now += 1ns;
    EXPECT_EQ(found("a"), "(not known)");
}

TEST_F(NearCacheTest, AbsenceHasItsOwnShorterTtl) {
    ASSERT_TRUE(cache.put_absence(cache.begin_load("a", now)));
    EXPECT_EQ(found("a"), "(absent)");
    now += 1s;
    EXPECT_EQ(found("a"), "(not known)");
}

TEST_F(NearCacheTest, CreationOverwritesAbsence) {
    ASSERT_TRUE(cache.put_absence(cache.begin_load("a", now)));
    EXPECT_TRUE(cache.put_own_write("a", text("1"), 1, now));
    EXPECT_EQ(found("a"), "1");
    EXPECT_TRUE(cache.put_own_absence("a", now));
    EXPECT_EQ(found("a"), "(absent)");
}

TEST_F(NearCacheTest, InvalidationVoidsARunningLoad) {
    const auto ticket = cache.begin_load("a", now);
    cache.invalidate("a");
    EXPECT_FALSE(cache.put(ticket, text("old"), 1));
    EXPECT_EQ(found("a"), "(not known)");
    EXPECT_EQ(cache.stats().voided, 1u);
    fill("a", "new");
    EXPECT_EQ(found("a"), "new");
}

TEST_F(NearCacheTest, OwnWriteVoidsARunningLoad) {
    const auto ticket = cache.begin_load("a", now);
    cache.put_own_write("a", text("new"), 1, now);
    EXPECT_FALSE(cache.put(ticket, text("old"), 1));
    EXPECT_FALSE(cache.put_absence(ticket));
    EXPECT_EQ(found("a"), "new");
}

TEST_F(NearCacheTest, ClearVoidsEveryRunningLoad) {
    fill("a", "1");
    const auto ticket = cache.begin_load("b", now);
    cache.clear();
    EXPECT_EQ(found("a"), "(not known)");
    EXPECT_FALSE(cache.put(ticket, text("old"), 1));
    EXPECT_EQ(cache.stats().entries, 0u);
}

TEST_F(NearCacheTest, OfTwoOverlappingWritesNeitherIsKeptUnlessItWasAlone) {
    const auto first = cache.begin_write("a", now);
    const auto second = cache.begin_write("a", now);
    EXPECT_TRUE(cache.put_own_write(second, text("second"), 1));
    EXPECT_FALSE(cache.put_own_write(first, text("first"), 1));
    EXPECT_EQ(found("a"), "(not known)");
    EXPECT_TRUE(cache.put_own_write(cache.begin_write("a", now), text("third"), 1));
    EXPECT_EQ(found("a"), "third");
}

TEST_F(NearCacheTest, AReaderThatBeganBeforeAWritersCommitIsOverwritten) {
    const auto write = cache.begin_write("a", now);
    const auto load = cache.begin_load("a", now);
    EXPECT_TRUE(cache.put(load, text("before the commit"), 1));
    EXPECT_TRUE(cache.put_own_write(write, text("after"), 1));
    EXPECT_EQ(found("a"), "after");
}

TEST_F(NearCacheTest, WhatIsTooLargeIsNotKeptNorIsItsForerunner) {
    fill("a", "1");
    EXPECT_FALSE(cache.put_own_write("a", text("2"), 5 << 10, now));
    EXPECT_EQ(found("a"), "(not known)");
}

TEST_F(NearCacheTest, JitterOnlyShortens) {
    auto options = plain_options();
    options.ttl_jitter = 0.5;
    Texts jittered(options);
    int early = 0;
    for (int index = 0; index < 200; ++index) {
        const std::string key = std::to_string(index);
        ASSERT_TRUE(jittered.put(jittered.begin_load(key, now), text("x"), 1));
        EXPECT_TRUE(jittered.get(key, now + 2500ms - 1ns));
        if (!jittered.get(key, now + 3750ms)) ++early;
        EXPECT_FALSE(jittered.get(key, now + 5s));
    }
    EXPECT_GT(early, 60);
    EXPECT_LT(early, 140);
}

TEST_F(NearCacheTest, WithGivesTheValueWithoutSharingIt) {
    const auto value = text("1");
    ASSERT_TRUE(cache.put(cache.begin_load("a", now), value, 1));
    ASSERT_TRUE(cache.put_absence(cache.begin_load("b", now)));
    const std::string* seen = nullptr;
    EXPECT_TRUE(cache.with("a", now, [&](const std::string* found) {
        seen = found;
        EXPECT_EQ(value.use_count(), 2);
    }));
    EXPECT_EQ(seen, value.get());
    EXPECT_TRUE(cache.with("b", now, [&](const std::string* found) { seen = found; }));
    EXPECT_EQ(seen, nullptr);
    EXPECT_FALSE(cache.with("c", now, [](const std::string*) { FAIL(); }));
}

TEST_F(NearCacheTest, KeysWithNulAndOfNoLengthAreKeys) {
    using namespace std::string_view_literals;
    fill("", "empty");
    fill("a\0b"sv, "nul");
    EXPECT_EQ(found(""), "empty");
    EXPECT_EQ(found("a\0b"sv), "nul");
    EXPECT_EQ(found("a"), "(not known)");
}

TEST_F(NearCacheTest, CountsWhatItDid) {
    fill("a", "1");
    ASSERT_TRUE(cache.put_absence(cache.begin_load("b", now)));
    for (int index = 0; index < 3; ++index) (void)cache.get("a", now);
    (void)cache.get("b", now);
    (void)cache.get("c", now);
    const auto stats = cache.stats();
    EXPECT_EQ(stats.hits, 3u);
    EXPECT_EQ(stats.negative_hits, 1u);
    EXPECT_EQ(stats.misses, 1u);
    EXPECT_EQ(stats.entries, 2u);
    EXPECT_GT(stats.bytes, 100u);
    EXPECT_EQ(stats.evictions, 0u);
}

TEST_F(NearCacheTest, ReturnedValueOutlivesItsEntry) {
    fill("a", "1");
    const auto held = cache.get("a", now);
    cache.clear();
    ASSERT_TRUE(held);
    EXPECT_EQ(*held->value, "1");
}

}  // namespace
}  // namespace tenon::cache
