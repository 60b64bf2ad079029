#include "services/links/decide.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "services/links/errors.hpp"

namespace tenon::links {
namespace {

using namespace std::chrono_literals;

const base::Time noon{std::chrono::sys_days{std::chrono::year{2030} / 1 / 1} + 12h};
const base::Bijection bijection(base::BijectionKey{1, 2, 3});

DomainFacts shared_domain() {
    return {.id = base::Uuid{{1}},
            .host = "go.example.com",
            .scheme = "https",
            .space = {},
            .project = std::nullopt};
}

OwnOrigins own_origins() {
    OwnOrigins own;
    own.add("go.example.com");
    own.add_port(8080);
    return own;
}

base::Result<Row> create(const CreateLink& asked) {
    static const OwnOrigins own = own_origins();
    static const std::vector<std::string> reserved{"v1", "docs"};
    return decide_create(
        asked, shared_domain(),
        {.project = base::Uuid{{7}}, .now = noon, .own = own, .reserved = reserved});
}

CreateLink asking_for(std::string url) {
    CreateLink asked;
    asked.url = std::move(url);
    return asked;
}

TEST(DecideCreate, StoresTheTargetAsABrowserWouldWriteIt) {
    const auto row = create(asking_for("  HTTP://Example.COM:80/a/../b "));
    ASSERT_TRUE(row.has_value());
    EXPECT_EQ(row->url, "http://example.com/b");
    EXPECT_EQ(row->status, 302);
    EXPECT_EQ(row->code, "");
    EXPECT_EQ(row->created_at, noon);
    EXPECT_EQ(row->updated_at, noon);
}

TEST(DecideCreate, RefusesTargetsOnThisServer) {
    for (const char* url :
         {"https://go.example.com/abc", "http://GO.example.com:8443/x", "http://localhost:8080/abc",
          "https://go.example.com./x", "http://127.0.0.2:8080/", "http://0:8080/",
          "http://[::1]:8080/", "http://[::ffff:127.0.0.1]:8080/", "http://a.localhost:8080/"}) {
        const auto row = create(asking_for(url));
        ASSERT_FALSE(row.has_value()) << url;
        EXPECT_TRUE(row.error().is(errors::target_is_own)) << url;
    }
}

TEST(DecideCreate, LetsADeveloperLinkToAnotherPortOfHisMachine) {
    EXPECT_TRUE(create(asking_for("http://localhost:3000/")).has_value());
}

TEST(DecideCreate, RefusesSchemesThatRunCode) {
    const auto row = create(asking_for("javascript:alert(1)"));
    ASSERT_FALSE(row.has_value());
    EXPECT_TRUE(row.error().is(errors::invalid_target));
}

TEST(DecideCreate, RefusesAnExpiryThatHasPassed) {
    auto asked = asking_for("https://example.com/");
    asked.expires_at = noon;
    const auto row = create(asked);
    ASSERT_FALSE(row.has_value());
    EXPECT_TRUE(row.error().is(errors::invalid_expiry));
    EXPECT_EQ(row.error().fields().at(0).pointer, "/expires_at");
}

TEST(DecideCreate, TakesTheFourRedirectStatusesOnly) {
    for (int status = 299; status <= 310; ++status) {
        auto asked = asking_for("https://example.com/");
        asked.status = status;
        const bool is_redirect = status == 301 || status == 302 || status == 307 || status == 308;
        EXPECT_EQ(create(asked).has_value(), is_redirect) << status;
    }
}

TEST(CheckAlias, KeepsWhatIsPlain) {
    const std::vector<std::string> reserved;
    for (const char* alias : {"a", "spring-sale", "Q3_2030", "abcdefg", "ABCDEFG", "1234567"}) {
        EXPECT_TRUE(check_alias(alias, reserved).has_value()) << alias;
    }
}

TEST(CheckAlias, RefusesWithTheReason) {
    const std::vector<std::string> reserved{"docs"};
    struct Case {
        std::string alias;
        const char* reason;
    };
    const Case cases[] = {{"", "1 to 128"},
                          {std::string(129, 'a'), "1 to 128"},
                          {"spring sale", "letters"},
                          {"spr\xC3\xADng", "letters"},
                          {"a/b", "letters"},
                          {"abcDe1f", "generated code"},
                          {"docs", "path of this server"}};
    for (const auto& [alias, reason] : cases) {
        const auto checked = check_alias(alias, reserved);
        ASSERT_FALSE(checked.has_value()) << alias;
        EXPECT_NE(checked.error().detail().find(reason), std::string::npos)
            << checked.error().detail();
    }
}

RC_GTEST_PROP(SlotOfPath, FindsTheSlotInWhichACodeWasMade, ()) {
    const auto k = *rc::gen::inRange<std::uint64_t>(0, codes_per_slot_bound);
    const base::Slot slot{*rc::gen::inRange<std::uint16_t>(0, base::slots_total)};
    const auto code = base::make_code(bijection, {.k = k, .slot = slot});
    RC_PRE(code.has_value());
    RC_ASSERT(slot_of_path(bijection, base::Uuid{{1}}, *code) == slot);
}

RC_GTEST_PROP(SlotOfPath, KnowsNoCodeBeyondTheBound, ()) {
    const auto k = *rc::gen::inRange<std::uint64_t>(codes_per_slot_bound, base::codes_per_slot);
    const base::Slot slot{*rc::gen::inRange<std::uint16_t>(0, base::slots_total)};
    const auto code = base::make_code(bijection, {.k = k, .slot = slot});
    RC_PRE(code.has_value());
    RC_ASSERT(slot_of_path(bijection, base::Uuid{{1}}, *code) == std::nullopt);
}

RC_GTEST_PROP(SlotOfPath, EveryTakenAliasHasASlot, ()) {
    const auto alias = *rc::gen::nonEmpty(rc::gen::container<std::string>(
        rc::gen::oneOf(rc::gen::inRange('a', static_cast<char>('z' + 1)),
                       rc::gen::inRange('A', static_cast<char>('Z' + 1)),
                       rc::gen::inRange('0', static_cast<char>('9' + 1)), rc::gen::just('-'))));
    const bool taken = check_alias(alias, {}).has_value();
    const auto slot = slot_of_path(bijection, base::Uuid{{1}}, alias);
    if (taken) RC_ASSERT(slot == base::slot_of(base::Uuid{{1}}, alias));
}

TEST(SlotOfPath, RefusesWhatNoLinkCanBeCalled) {
    for (const auto& path :
         {std::string(), std::string("a/b"), std::string("a%20b"), std::string("\0a", 2),
          std::string(129, 'a'), std::string("favicon.ico")}) {
        EXPECT_EQ(slot_of_path(bijection, base::Uuid{{1}}, path), std::nullopt) << path;
    }
}

TEST(DecideEdit, ChangesWhatIsNamedAndKeepsTheRest) {
    const OwnOrigins own;
    auto row = *create(asking_for("https://example.com/a"));
    row.title = "Spring";
    EditLink asked;
    asked.url = runtime::Patch<std::string>("https://example.com/b");
    const auto edited = decide_edit(row, asked, {.now = noon + 1h, .own = own});
    ASSERT_TRUE(edited.has_value());
    EXPECT_EQ(edited->url, "https://example.com/b");
    EXPECT_EQ(edited->title, "Spring");
    EXPECT_EQ(edited->created_at, noon);
    EXPECT_EQ(edited->updated_at, noon + 1h);
}

TEST(DecideEdit, NullRemoves) {
    const OwnOrigins own;
    auto row = *create(asking_for("https://example.com/a"));
    row.title = "Spring";
    row.expires_at = noon + 1h;
    EditLink asked;
    asked.title = runtime::Patch<std::string>::null();
    asked.expires_at = runtime::Patch<base::Time>::null();
    const auto edited = decide_edit(row, asked, {.now = noon, .own = own});
    ASSERT_TRUE(edited.has_value());
    EXPECT_EQ(edited->title, std::nullopt);
    EXPECT_EQ(edited->expires_at, std::nullopt);
}

TEST(DecideEdit, ALinkKeepsATarget) {
    const OwnOrigins own;
    EditLink asked;
    asked.url = runtime::Patch<std::string>::null();
    asked.status = runtime::Patch<std::int32_t>::null();
    const auto edited =
        decide_edit(*create(asking_for("https://example.com/")), asked, {.now = noon, .own = own});
    ASSERT_FALSE(edited.has_value());
    EXPECT_TRUE(edited.error().is(errors::cannot_remove));
    EXPECT_EQ(edited.error().fields().size(), 2U);
}

TEST(DecideEdit, ALoopBuiltAfterwardsIsRefusedToo) {
    const auto own = own_origins();
    EditLink asked;
    asked.url = runtime::Patch<std::string>("https://go.example.com/abc");
    const auto edited =
        decide_edit(*create(asking_for("https://example.com/")), asked, {.now = noon, .own = own});
    ASSERT_FALSE(edited.has_value());
    EXPECT_TRUE(edited.error().is(errors::target_is_own));
}

TEST(DecideVisit, ExpiresAtTheVeryMoment) {
    Target target;
    target.expires_at = noon;
    EXPECT_EQ(decide_visit(target, noon - 1us), Visit::follow);
    EXPECT_EQ(decide_visit(target, noon), Visit::expired);
    target.expires_at.reset();
    EXPECT_EQ(decide_visit(target, noon + 24h), Visit::follow);
}

TEST(Show, BuildsTheShortUrlFromTheDomain) {
    auto row = *create(asking_for("https://example.com/a"));
    row.code = "2fQx9Kd";
    const auto link = show(row, shared_domain());
    EXPECT_EQ(link.short_url, "https://go.example.com/2fQx9Kd");
    EXPECT_EQ(link.domain, "go.example.com");
}

}  // namespace
}  // namespace tenon::links
