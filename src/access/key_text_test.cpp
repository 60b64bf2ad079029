#include "access/key_text.hpp"

#include <gtest/gtest.h>

#include <set>

#include "access/errors.hpp"
#include "base/base62.hpp"

namespace tenon::access {
namespace {

TEST(KeyText, EveryMadeKeyHasItsForm) {
    base::SeededRandom random(1);
    std::set<std::string> seen;
    for (int i = 0; i < 1'000; ++i) {
        const auto text = make_key_text(random);
        EXPECT_EQ(text.size(), 53U);
        EXPECT_TRUE(check_key_text(text).has_value());
        EXPECT_TRUE(seen.insert(text).second);
    }
}

TEST(KeyText, TellsEveryChangedCharacter) {
    base::SeededRandom random(2);
    const auto text = make_key_text(random);
    for (std::size_t place = 0; place < text.size(); ++place) {
        for (const char digit : base::base62_digits) {
            auto changed = text;
            if (changed[place] == digit) continue;
            changed[place] = digit;
            const auto checked = check_key_text(changed);
            ASSERT_FALSE(checked.has_value()) << changed;
            EXPECT_TRUE(checked.error().is(errors::malformed_key));
        }
    }
}

TEST(KeyText, RefusesOtherForms) {
    base::SeededRandom random(3);
    const auto text = make_key_text(random);
    for (const auto& other : {std::string(), text + "0", text.substr(1), "Bearer " + text,
                              std::string(53, '\0'), "tnk_" + std::string(49, '-')}) {
        EXPECT_FALSE(check_key_text(other).has_value()) << other;
    }
}

}  // namespace
}  // namespace tenon::access
