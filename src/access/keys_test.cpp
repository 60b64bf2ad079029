#include "access/keys.hpp"

#include <gtest/gtest.h>

#include "access/errors.hpp"

namespace tenon::access {
namespace {

using namespace std::chrono_literals;

const base::Time noon{std::chrono::sys_days{std::chrono::year{2030} / 1 / 1} + 12h};

Key some_key() {
    return {.id = base::Uuid{{1}},
            .project = base::Uuid{{2}},
            .name = "shop",
            .scopes = {"links:read"},
            .created_at = noon - 1h,
            .expires_at = std::nullopt,
            .revoked_at = std::nullopt,
            .last_used_at = std::nullopt};
}

TEST(JudgeKey, TellsWhoCallsAndWhatHeMay) {
    const auto identity = judge_key(some_key(), noon);
    ASSERT_TRUE(identity.has_value());
    EXPECT_EQ(identity->project, base::Uuid{{2}});
    EXPECT_EQ(identity->key, base::Uuid{{1}});
    EXPECT_TRUE(identity->may("links:read"));
    EXPECT_FALSE(identity->may("links:write"));
}

TEST(JudgeKey, EndsAtTheVeryMoment) {
    auto key = some_key();
    key.expires_at = noon;
    EXPECT_TRUE(judge_key(key, noon - 1us).has_value());
    const auto late = judge_key(key, noon);
    ASSERT_FALSE(late.has_value());
    EXPECT_TRUE(late.error().is(errors::expired_key));
}

TEST(JudgeKey, ARevokedKeyIsRevokedWhateverTheClockSays) {
    auto key = some_key();
    key.revoked_at = noon + 1h;
    const auto judged = judge_key(key, noon);
    ASSERT_FALSE(judged.has_value());
    EXPECT_TRUE(judged.error().is(errors::revoked_key));
}

TEST(CheckScopes, TakesAllOrServiceAndRight) {
    EXPECT_TRUE(check_scopes({"*"}).has_value());
    EXPECT_TRUE(check_scopes({"links:read", "links:write"}).has_value());
    for (const char* scope :
         {"", "links", "links:", ":read", "links:read:all", "Links:read", "* "}) {
        EXPECT_FALSE(check_scopes({scope}).has_value()) << scope;
    }
    EXPECT_FALSE(check_scopes({}).has_value());
}

}  // namespace
}  // namespace tenon::access
