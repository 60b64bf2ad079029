#include "app/usage.hpp"

#include <gtest/gtest.h>

namespace tenon::app {
namespace {

enum class Fruit : std::uint8_t { apple, pear };

/// A program with a command that takes an option and a command of its own.
class Usage : public ::testing::Test {
protected:
    Usage() {
        app_.name("tenon");
        app_.require_subcommand(1);
        auto* status = app_.add_subcommand("status", "");
        add_choice<Fruit>(*status, "-f,--fruit", {{"apple", Fruit::apple}, {"pear", Fruit::pear}},
                          fruit_, "", "FRUIT");
        auto* keys = app_.add_subcommand("keys", "");
        keys->require_subcommand(1);
        keys->add_subcommand("make", "")->add_option("name", name_)->required();
    }

    std::string explain(const std::string& line) {
        try {
            app_.parse(line);
        } catch (const CLI::ParseError& error) {
            return explain_usage(app_, error);
        }
        return "understood";
    }

    CLI::App app_;
    Fruit fruit_ = Fruit::apple;
    std::string name_;
};

TEST_F(Usage, AnUnknownOptionIsNamedWithTheNearest) {
    EXPECT_EQ(explain("status --friut pear"),
              "`tenon status` has no option --friut; did you mean --fruit? (see tenon status "
              "--help)");
    EXPECT_EQ(explain("status --friut=pear"),
              "`tenon status` has no option --friut; did you mean --fruit? (see tenon status "
              "--help)");
}

TEST_F(Usage, NothingNearIsSuggestedWhenNothingIs) {
    EXPECT_EQ(explain("status --quite-other"),
              "`tenon status` has no option --quite-other (see tenon status --help)");
}

TEST_F(Usage, AnUnknownCommandIsNamedWithTheNearest) {
    EXPECT_EQ(explain("statsu"),
              "`tenon` has no command statsu; did you mean status? (see tenon --help)");
    EXPECT_EQ(explain("keys mkae"),
              "`tenon keys` has no command mkae; did you mean make? (see tenon keys --help)");
}

TEST_F(Usage, AMissingCommandIsAnsweredWithAllOfThem) {
    EXPECT_EQ(explain(""), "`tenon` needs a command: status, keys (see tenon --help)");
    EXPECT_EQ(explain("keys"), "`tenon keys` needs a command: make (see tenon keys --help)");
}

TEST_F(Usage, AWordTooManyIsNamed) {
    EXPECT_EQ(explain("status more"),
              "`tenon status` does not take 'more' (see tenon status --help)");
}

TEST_F(Usage, AMissingWordIsNamed) {
    EXPECT_EQ(explain("keys make"),
              "`tenon keys make`: name is required (see tenon keys make --help)");
}

TEST_F(Usage, AWordThatIsNoChoiceIsRefusedWithAll) {
    EXPECT_EQ(explain("status -f paer"),
              "`tenon status`: --fruit: 'paer' is none of apple, pear; did you mean pear? (see "
              "tenon status --help)");
    EXPECT_EQ(fruit_, Fruit::apple);
}

TEST_F(Usage, AChoiceIsTaken) {
    EXPECT_EQ(explain("status --fruit pear"), "understood");
    EXPECT_EQ(fruit_, Fruit::pear);
}

}  // namespace
}  // namespace tenon::app
