#include "app/output.hpp"

#include <gtest/gtest.h>

namespace tenon::app {
namespace {

TEST(AsJsonLines, GivesEveryElementALine) {
    EXPECT_EQ(as_json_lines(R"([{"a":1},{"b":[1,{"c":2}]},3])"),
              "{\"a\":1}\n{\"b\":[1,{\"c\":2}]}\n3\n");
}

TEST(AsJsonLines, TakesNoBracketOrCommaInATextForItsOwn) {
    EXPECT_EQ(as_json_lines(R"([{"a":"],\"}[{"},"x,\\"])"), "{\"a\":\"],\\\"}[{\"}\n\"x,\\\\\"\n");
}

TEST(AsJsonLines, AnEmptyArrayHasNoLine) {
    EXPECT_EQ(as_json_lines("[]"), "");
}

TEST(InOneLine, JoinsWhatGoesOnAndLeavesLists) {
    EXPECT_EQ(in_one_line("no socket\n\tIs it running?\n"), "no socket Is it running?");
    EXPECT_EQ(in_one_line("first\nsecond"), "first\nsecond");
    EXPECT_EQ(in_one_line(""), "");
}

TEST(ExitCodeDocs, ExplainEveryCodeOnceInOrder) {
    int before = -1;
    for (const auto& doc : exit_code_docs) {
        EXPECT_LT(before, to_int(doc.code));
        EXPECT_FALSE(doc.meaning.empty());
        before = to_int(doc.code);
    }
    EXPECT_EQ(before, to_int(ExitCode::interrupted));
}

}  // namespace
}  // namespace tenon::app
