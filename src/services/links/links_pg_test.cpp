// The service over a real database: what owners and visitors see, also at once.
#include "services/links/links.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "runtime/task_group.hpp"
#include "services/links/errors.hpp"
#include "services/links/test_links.hpp"
#include "storage/errors.hpp"

namespace tenon::links {
namespace {

using boost::asio::awaitable;

constexpr std::string_view host = "go.example.com";

/// A process's part: its near cache and its only core's service.
struct Process {
    Process(TestLinks& house, storage::Database& database)
        : links(house.host.core, database, shared, house.domains) {}

    Shared shared{{}, base::BijectionKey{1, 2, 3}, base::SealKey{4, 5, 6}};
    Links links;
};

CreateLink asking_for(std::string url, std::optional<std::string> alias = std::nullopt) {
    CreateLink asked;
    asked.url = std::move(url);
    asked.alias = std::move(alias);
    return asked;
}

EditLink leading_to(std::string url) {
    EditLink asked;
    asked.url = runtime::Patch<std::string>(std::move(url));
    return asked;
}

/// What callers of one key were told.
struct Told {
    std::set<std::string> codes;
    std::size_t made = 0;
    std::size_t replayed = 0;
};

awaitable<void> create_once(Links& links, runtime::Call call, Told& told) {
    const auto link = co_await links.create(call, asking_for("https://example.org/"));
    if (!link) co_return;
    told.codes.insert(link->code);
    call.claim->replayed ? ++told.replayed : ++told.made;
}

/// What happened to items that met in batches, by their number.
struct Met {
    std::set<int> made;
    std::set<int> moved;
};

awaitable<void> create_alias(Links& links, runtime::Call call, int number, Met& met) {
    try {
        const auto link = co_await links.create(
            call, asking_for("https://example.org/", "alias-" + std::to_string(number)));
        if (link) met.made.insert(number);
    } catch (const storage::BucketsMoved&) {
        met.moved.insert(number);
    }
}

awaitable<void> edit_once(Links& links, runtime::Call call, std::string alias, std::string url,
                          std::size_t& edited) {
    const auto link = co_await links.edit(call, {.code = std::move(alias), .domain = std::nullopt},
                                          leading_to(std::move(url)));
    if (link) ++edited;
}

awaitable<void> follow_once(Links& links, runtime::Call call, std::string alias) {
    co_await links.resolve(call, host, alias);
}

class Service : public testing::Test {
protected:
    explicit Service(std::size_t nodes = 1) : house_(nodes) {}
    ~Service() override {
        house_.host.run(here_.links.close());
        house_.host.run(there_.links.close());
    }

    runtime::Call call(std::optional<base::Uuid> project = std::nullopt) {
        auto asking = house_.host.call();
        asking.project = project.value_or(house_.project);
        return asking;
    }
    runtime::Call keyed_call(const std::string& key) {
        auto keyed = call();
        keyed.claim = runtime::Claim{.key = key, .fingerprint = base::sha256("body")};
        return keyed;
    }
    base::Result<Link> create(const CreateLink& asked,
                              std::optional<base::Uuid> project = std::nullopt) {
        auto asking = call(project);
        return house_.host.run(here_.links.create(asking, asked));
    }
    base::Result<Link> edit(const std::string& code, const std::string& url,
                            std::optional<base::Uuid> project = std::nullopt) {
        auto asking = call(project);
        return house_.host.run(
            here_.links.edit(asking, {.code = code, .domain = std::nullopt}, leading_to(url)));
    }
    base::Result<void> remove(const std::string& code,
                              std::optional<base::Uuid> project = std::nullopt) {
        auto asking = call(project);
        return house_.host.run(here_.links.remove(asking, {.code = code, .domain = std::nullopt}));
    }
    base::Result<Link> get(const std::string& code,
                           std::optional<base::Uuid> project = std::nullopt) {
        auto asking = call(project);
        return house_.host.run(here_.links.get(asking, {.code = code, .domain = std::nullopt}));
    }
    /// Where a visitor is led, near copy first as a redirect does; empty: nowhere.
    std::string visit(const std::string& path) { return visit(here_.links, path); }
    std::string visit(Links& links, const std::string& path) {
        std::string url;
        const auto use = [&url](const Target* target) { url = target ? target->url : ""; };
        if (links.with_near(host, path, std::chrono::steady_clock::now(), use)) return url;
        auto asking = call();
        const auto target = house_.host.run(links.resolve(asking, host, path));
        return target ? target->url : "";
    }
    bool is_near(const std::string& path) {
        return here_.links.with_near(host, path, std::chrono::steady_clock::now(),
                                     [](const Target*) {});
    }

    TestLinks house_;
    Process here_{house_, *house_.database};
    Process there_{house_, house_.elsewhere};
};

TEST_F(Service, ALinkIsMadeShownAndFollowed) {
    const auto made = create(asking_for("https://example.org/a"));
    ASSERT_TRUE(made.has_value());
    EXPECT_EQ(made->short_url, "https://go.example.com/" + made->code);
    EXPECT_EQ(get(made->code)->url, "https://example.org/a");
    EXPECT_EQ(visit(made->code), "https://example.org/a");
    EXPECT_TRUE(is_near(made->code));
    EXPECT_EQ(visit(there_.links, made->code), "https://example.org/a");
}

TEST_F(Service, ThreeHundredAtOnceWithOneKeyMakeOneLink) {
    Told told;
    runtime::TaskGroup tasks(house_.host.core.io());
    for (int i = 0; i < 300; ++i) {
        tasks.spawn("create",
                    create_once(i % 2 == 0 ? here_.links : there_.links, keyed_call("k"), told));
    }
    house_.host.run(tasks.join());
    EXPECT_EQ(told.made, 1U);
    EXPECT_EQ(told.replayed, 299U);
    EXPECT_EQ(told.codes.size(), 1U);
    EXPECT_EQ(house_.value("SELECT count(*) FROM links.links"), "1");
    EXPECT_EQ(house_.value("SELECT count(*) FROM tenon.claims"), "1");
}

TEST_F(Service, OneBucketOnTheMoveLeavesTheOthersOfItsBatchAlone) {
    std::set<int> moving;
    for (const int number : {7, 31}) {
        moving.insert(number);
        const auto bucket = house_.key_of("alias-" + std::to_string(number)).bucket;
        house_.script("UPDATE tenon.fences SET epoch = 2 WHERE bucket = " +
                      std::to_string(bucket.value));
    }
    Met met;
    runtime::TaskGroup tasks(house_.host.core.io());
    for (int number = 0; number < 40; ++number) {
        tasks.spawn("create", create_alias(here_.links, call(), number, met));
    }
    house_.host.run(tasks.join());
    EXPECT_EQ(met.moved, moving);
    EXPECT_EQ(met.made.size(), 38U);
    EXPECT_EQ(house_.value("SELECT count(*) FROM links.links"), "38");
}

TEST_F(Service, ABulkRepeatFinishesWhatWasLeft) {
    const CreateLinks asked{.links = {asking_for("https://example.org/1"),
                                      asking_for("https://example.org/2"),
                                      asking_for("javascript:alert(1)")}};
    auto first_call = keyed_call("bulk");
    const auto first = house_.host.run(here_.links.create_all(first_call, asked));
    ASSERT_TRUE(first.has_value());
    ASSERT_EQ(first->results.size(), 3U);
    EXPECT_EQ(first->results[2].error->type, errors::invalid_target.slug);
    // As if the process had died before it wrote the second item and its answer as a whole.
    house_.script("DELETE FROM links.links WHERE url = 'https://example.org/2'");
    house_.script("DELETE FROM tenon.claims WHERE key LIKE 'bulk_1'");
    house_.script("UPDATE tenon.claims SET answer = '' WHERE key = 'bulk'");
    auto second_call = keyed_call("bulk");
    const auto second = house_.host.run(there_.links.create_all(second_call, asked));
    EXPECT_EQ(second->results[0].link->code, first->results[0].link->code);
    EXPECT_EQ(second->results[1].link->url, "https://example.org/2");
    EXPECT_EQ(house_.value("SELECT count(*) FROM links.links"), "2");
    auto third_call = keyed_call("bulk");
    const auto third = house_.host.run(here_.links.create_all(third_call, asked));
    EXPECT_EQ(third->results[0].link->code, first->results[0].link->code);
    EXPECT_EQ(third->results[1].link->code, second->results[1].link->code);
    EXPECT_EQ(third->results[2].error->type, errors::invalid_target.slug);
    EXPECT_EQ(house_.value("SELECT count(*) FROM links.links"), "2");
}

TEST_F(Service, ALinkIsItsProjectsAlone) {
    ASSERT_TRUE(create(asking_for("https://example.org/", "shop")).has_value());
    EXPECT_TRUE(get("shop", house_.stranger).error().is(errors::not_found));
    EXPECT_TRUE(
        edit("shop", "https://evil.example/", house_.stranger).error().is(errors::not_found));
    EXPECT_TRUE(remove("shop", house_.stranger).error().is(errors::not_found));
    EXPECT_EQ(visit("shop"), "https://example.org/");
    EXPECT_TRUE(create(asking_for("https://example.org/", "shop"), house_.stranger)
                    .error()
                    .is(errors::alias_taken));
}

TEST_F(Service, AnEditIsSeenHereAtOnce) {
    ASSERT_TRUE(create(asking_for("https://example.org/1", "shop")).has_value());
    EXPECT_EQ(visit("shop"), "https://example.org/1");
    house_.host.clock.advance(std::chrono::seconds(1));
    const auto edited = edit("shop", "https://example.org/2");
    ASSERT_TRUE(edited.has_value());
    EXPECT_GT(edited->updated_at, edited->created_at);
    EXPECT_TRUE(is_near("shop"));
    EXPECT_EQ(visit("shop"), "https://example.org/2");
    EXPECT_TRUE(edit("shop", "ftp://example.org/").error().is(errors::invalid_target));
    EXPECT_EQ(visit("shop"), "https://example.org/2");
}

TEST_F(Service, AnAliasThatWasFreedLeadsToItsNewOwnersTargetAtOnce) {
    ASSERT_TRUE(create(asking_for("https://example.org/old", "shop")).has_value());
    EXPECT_EQ(visit("shop"), "https://example.org/old");
    ASSERT_TRUE(remove("shop").has_value());
    EXPECT_EQ(visit("shop"), "");
    ASSERT_TRUE(create(asking_for("https://example.org/new", "shop"), house_.stranger).has_value());
    EXPECT_EQ(visit("shop"), "https://example.org/new");
    EXPECT_TRUE(get("shop").error().is(errors::not_found));
    EXPECT_TRUE(remove("shop").error().is(errors::not_found));
    EXPECT_EQ(visit("shop"), "https://example.org/new");
}

TEST_F(Service, AnAliasFoundFreeIsFollowedOnceItIsMade) {
    EXPECT_EQ(visit("shop"), "");
    EXPECT_TRUE(is_near("shop"));  // that there is none
    ASSERT_TRUE(create(asking_for("https://example.org/", "shop")).has_value());
    EXPECT_EQ(visit("shop"), "https://example.org/");
}

TEST_F(Service, EditsAtOnceAreAppliedOneAfterTheOther) {
    ASSERT_TRUE(create(asking_for("https://example.org/0", "shop")).has_value());
    std::size_t edited = 0;
    for (int round = 0; round < 30; ++round) {
        runtime::TaskGroup tasks(house_.host.core.io());
        for (int i = 0; i < 4; ++i) {
            tasks.spawn("edit",
                        edit_once(here_.links, call(), "shop",
                                  fmt::format("https://example.org/{}/{}", round, i), edited));
            tasks.spawn("follow", follow_once(here_.links, call(), "shop"));
        }
        house_.host.run(tasks.join());
        EXPECT_EQ(visit("shop"), house_.value("SELECT url FROM links.links"));
    }
    EXPECT_EQ(edited, 120U);
}

TEST_F(Service, OfTwoEditsNeitherLosesWhatTheOtherChanged) {
    ASSERT_TRUE(create(asking_for("https://example.org/0", "shop")).has_value());
    auto blocker = house_.nodes[0].connect();
    blocker.run("BEGIN; SELECT FROM links.links FOR UPDATE");
    std::size_t edited = 0;
    runtime::TaskGroup tasks(house_.host.core.io());
    tasks.spawn("edit", edit_once(here_.links, call(), "shop", "https://example.org/1", edited));
    house_.turn_until_blocked();
    blocker.run("UPDATE links.links SET title = 'renamed'; COMMIT");
    house_.host.run(tasks.join());
    EXPECT_EQ(edited, 1U);
    EXPECT_EQ(get("shop")->title, "renamed");
    EXPECT_EQ(visit("shop"), "https://example.org/1");
}

TEST_F(Service, CodesBeyondWhatWasHandedOutAreUnknownWithoutTheDatabase) {
    const auto& bijection = here_.shared.bijection;
    std::vector<std::string> beyond;
    for (std::uint64_t k = codes_per_slot_bound; beyond.size() < 1'000; k += 12'345) {
        const base::Slot slot{static_cast<std::uint16_t>(k % base::slots_total)};
        if (auto code = base::make_code(bijection, {.k = k, .slot = slot})) {
            beyond.push_back(std::move(*code));
        }
    }
    std::optional<std::string> within;
    for (std::uint64_t k = 0; !within; ++k)
        within = base::make_code(bijection, {.k = k, .slot = {}});
    auto closing = call();
    house_.host.run(house_.database->close(closing));
    for (const auto& code : beyond) EXPECT_EQ(visit(code), "");
    auto asking = call();
    EXPECT_TRUE(runtime::is_a<runtime::Unavailable>(
        house_.host.run(runtime::failure_of(here_.links.resolve(asking, host, *within)))));
    EXPECT_EQ(house_.value("SELECT count(*) FROM links.links"), "0");
}

/// Lists over two databases, so that pages are merged.
class List : public Service {
protected:
    List() : Service(2) {}

    void insert(const std::string& code, std::size_t node, const std::string& when) {
        house_.script(fmt::format("INSERT INTO links.links VALUES ({}, '{}', '{}', '{}', "
                                  "'https://example.org/', 302, false, NULL, NULL, '{}', '{}')",
                                  node, base::format_uuid(house_.domain().id), code,
                                  base::format_uuid(house_.project), when, when),
                      node);
    }
    base::Result<LinkPage> page(const ListLinks& which) {
        auto asking = call();
        return house_.host.run(here_.links.list(asking, which));
    }
};

TEST_F(List, ShowsWhatExistedThroughoutOnceWhileOthersComeAndGo) {
    const std::string when = "2026-01-01T00:00:00Z";
    for (std::size_t node = 0; node < 2; ++node) {
        // Names of those that stay end in -s, of those that go in -g; spread over each other.
        house_.script(
            fmt::format("INSERT INTO links.links SELECT {}, '{}', substr(md5((i * 2 + {})::text), "
                        "1, 10) || CASE WHEN i % 5 = 0 THEN '-g' ELSE '-s' END, '{}', "
                        "'https://example.org/', 302, false, NULL, NULL, '{}', '{}' "
                        "FROM generate_series(1, 500) AS i",
                        node, base::format_uuid(house_.domain().id), node,
                        base::format_uuid(house_.project), when, when),
            node);
    }
    std::multiset<std::string> seen;
    std::optional<std::string> cursor;
    int pages = 0;
    do {
        const auto got = page({.domain = std::nullopt, .limit = 7, .cursor = cursor});
        ASSERT_TRUE(got.has_value());
        ASSERT_LE(got->links.size(), 7U);
        for (const auto& link : got->links) {
            if (link.code.ends_with("-s")) seen.insert(link.code);
        }
        cursor = got->next_cursor;
        const auto node = static_cast<std::size_t>(pages++ % 2);
        insert(fmt::format("{:010x}-new", pages * 7'919), node, when);
        house_.script(
            "DELETE FROM links.links WHERE code = (SELECT min(code) FROM links.links "
            "WHERE code LIKE '%-g')",
            node);
        house_.script(
            "DELETE FROM links.links WHERE code = (SELECT max(code) FROM links.links "
            "WHERE code LIKE '%-g')",
            node);
    } while (cursor && pages < 1'000);
    EXPECT_EQ(seen.size(), 800U);
    EXPECT_EQ(std::set(seen.begin(), seen.end()).size(), 800U);
}

TEST_F(List, NewestFirstAndOnlyTheProjectsOwn) {
    insert("first", 0, "2026-01-01T00:00:00Z");
    insert("third", 0, "2026-01-03T00:00:00.000001Z");
    insert("second", 1, "2026-01-03T00:00:00Z");
    house_.script(house_.insert_sql("foreign"));
    const auto got = page({.domain = std::nullopt, .limit = std::nullopt, .cursor = std::nullopt});
    ASSERT_TRUE(got.has_value());
    ASSERT_EQ(got->links.size(), 3U);
    EXPECT_EQ(got->links[0].code, "third");
    EXPECT_EQ(got->links[1].code, "second");
    EXPECT_EQ(got->links[2].code, "first");
    EXPECT_FALSE(got->next_cursor);
}

TEST_F(List, ACursorOfAnotherProjectOrADamagedOneIsRefused) {
    for (int i = 0; i < 3; ++i) insert(fmt::format("c{}", i), 0, "2026-01-01T00:00:00Z");
    const auto first = page({.domain = std::nullopt, .limit = 1, .cursor = std::nullopt});
    ASSERT_TRUE(first->next_cursor);
    auto damaged = *first->next_cursor;
    damaged[damaged.size() / 2] ^= 1;
    EXPECT_FALSE(page({.domain = std::nullopt, .limit = 1, .cursor = damaged}).has_value());
    auto foreign = call(house_.stranger);
    EXPECT_FALSE(
        house_.host
            .run(here_.links.list(
                foreign, {.domain = std::nullopt, .limit = 1, .cursor = first->next_cursor}))
            .has_value());
}

}  // namespace
}  // namespace tenon::links
