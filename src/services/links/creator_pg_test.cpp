// Batches of creates over a real database: keys, aliases, codes, and what they meet there.
#include "services/links/creator.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "runtime/batcher.hpp"
#include "runtime/task_group.hpp"
#include "services/links/errors.hpp"
#include "services/links/test_links.hpp"
#include "storage/errors.hpp"

namespace tenon::links {
namespace {

using boost::asio::awaitable;
using Outcomes = std::vector<base::Result<Made>>;
using Creates = runtime::Batcher<CreateItem, base::Result<Made>>;

/// A batch item's end: its result, or what was thrown at it.
struct Ended {
    std::optional<base::Result<Made>> result;
    std::exception_ptr failure;
};

awaitable<void> add_item(Creates& creates, runtime::Call call, CreateItem item, Ended& ended) {
    try {
        ended.result = co_await creates.add(call, std::move(item));
    } catch (const runtime::Failure&) {
        ended.failure = std::current_exception();
    }
}

awaitable<void> create_into(Creator& creator, runtime::Call call, std::vector<CreateItem> items,
                            Outcomes& outcomes) {
    outcomes = co_await creator.run(call, items);
}

class Create : public testing::Test {
protected:
    CreateItem plain(const std::string& alias = "") {
        return item(alias, alias.empty() ? base::Bucket{5} : house_.key_of(alias).bucket);
    }
    // The body stands for everything that a fingerprint is made of.
    CreateItem keyed(const std::string& key, const std::string& alias = "",
                     const std::string& body = "body") {
        const auto bucket = alias.empty() ? base::bucket_of({}, base::slot_of(house_.project, key))
                                          : house_.key_of(alias).bucket;
        CreateItem made = item(alias, bucket);
        made.claim = runtime::Claim{.key = key, .fingerprint = base::sha256(body)};
        return made;
    }
    CreateItem item(const std::string& alias, base::Bucket bucket) {
        return {.bucket = bucket,
                .row = house_.row(alias),
                .claim = std::nullopt,
                .caller = "",
                .domains = house_.domains,
                .domain = &house_.domain()};
    }
    Outcomes create(const std::vector<CreateItem>& items) {
        auto call = house_.host.call();
        return house_.host.run(creator_.run(call, items));
    }
    std::string links() { return house_.value("SELECT count(*) FROM links.links"); }
    std::string claims() { return house_.value("SELECT count(*) FROM tenon.claims"); }

    TestLinks house_;
    base::Bijection bijection_{base::BijectionKey{1, 2, 3}};
    Store store_{*house_.database};
    CodeBook codes_{bijection_};
    Creator creator_{store_, codes_};
    Store elsewhere_store_{house_.elsewhere};
    CodeBook elsewhere_codes_{bijection_};
    Creator elsewhere_{elsewhere_store_, elsewhere_codes_};  ///< another process
};

TEST_F(Create, AllKindsInOneBatch) {
    const auto made = create({plain(), plain("shop"), keyed("k1"), keyed("k2", "sale"), plain()});
    std::set<std::string> codes;
    for (const auto& one : made) {
        ASSERT_TRUE(one.has_value()) << one.error().detail();
        EXPECT_FALSE(one->is_replayed());
        codes.insert(one->row.code);
    }
    EXPECT_EQ(codes.size(), 5U);
    EXPECT_EQ(made[1]->row.code, "shop");
    EXPECT_TRUE(base::has_code_form(made[2]->row.code));
    EXPECT_EQ(links(), "5");
    EXPECT_EQ(claims(), "2");
}

TEST_F(Create, ADrawnCodeNamesTheBucketItsRowLiesIn) {
    const auto made = create({plain(), keyed("k")});
    for (const auto& one : made) {
        const auto number = base::read_code(bijection_, one->row.code);
        ASSERT_TRUE(number);
        EXPECT_EQ(
            house_.value("SELECT bucket FROM links.links WHERE code = '" + one->row.code + "'"),
            std::to_string(number->slot.value));
    }
}

TEST_F(Create, TheSameKeyAndBodyIsAnsweredByWhatWasMade) {
    const auto first = create({keyed("k")});
    const auto again = create({keyed("k")});
    ASSERT_TRUE(again[0].has_value());
    ASSERT_TRUE(again[0]->is_replayed());
    EXPECT_EQ(again[0]->stored->code, first[0]->row.code);
    EXPECT_EQ(again[0]->stored->short_url, "https://go.example.com/" + first[0]->row.code);
    EXPECT_EQ(links(), "1");
}

TEST_F(Create, TheSameKeyWithAnotherBodyIsRefused) {
    ASSERT_TRUE(create({keyed("k")})[0].has_value());
    const auto other = create({keyed("k", "", "other")});
    ASSERT_FALSE(other[0].has_value());
    EXPECT_TRUE(other[0].error().is(storage::errors::claim_mismatch));
    EXPECT_EQ(links(), "1");
}

TEST_F(Create, RepeatsWithinOneBatchFollowTheFirst) {
    std::vector<CreateItem> items;
    for (int i = 0; i < 60; ++i) items.push_back(keyed("k"));
    items.push_back(keyed("k", "", "other"));
    items.push_back(keyed("k2"));
    const auto made = create(items);
    ASSERT_TRUE(made[0].has_value());
    EXPECT_FALSE(made[0]->is_replayed());
    for (std::size_t i = 1; i < 60; ++i) {
        ASSERT_TRUE(made[i].has_value());
        ASSERT_TRUE(made[i]->is_replayed());
        EXPECT_EQ(made[i]->stored->code, made[0]->row.code);
    }
    EXPECT_TRUE(made[60].error().is(storage::errors::claim_mismatch));
    EXPECT_FALSE(made[61]->is_replayed());
    EXPECT_EQ(links(), "2");
    EXPECT_EQ(claims(), "2");
}

TEST_F(Create, RepeatsWithinOneBatchOfWhatWasMadeBeforeAllGetIt) {
    const auto first = create({keyed("k")});
    const auto again = create({keyed("k"), keyed("k", "", "other"), keyed("k")});
    EXPECT_EQ(again[0]->stored->code, first[0]->row.code);
    EXPECT_TRUE(again[1].error().is(storage::errors::claim_mismatch));
    EXPECT_EQ(again[2]->stored->code, first[0]->row.code);
}

TEST_F(Create, TheRightRepeatIsFoundBehindAWrongOne) {
    const auto first = create({keyed("k")});
    const auto again = create({keyed("k", "", "other"), keyed("k")});
    EXPECT_TRUE(again[0].error().is(storage::errors::claim_mismatch));
    ASSERT_TRUE(again[1].has_value());
    EXPECT_EQ(again[1]->stored->code, first[0]->row.code);
}

TEST_F(Create, AnotherCallerOrProjectHasKeysOfItsOwn) {
    auto user = keyed("k");
    user.caller = "user";
    auto stranger = keyed("k");
    stranger.row.project = house_.stranger;
    for (const auto& one : create({keyed("k"), user, stranger})) {
        ASSERT_TRUE(one.has_value());
        EXPECT_FALSE(one->is_replayed());
    }
    EXPECT_EQ(claims(), "3");
}

TEST_F(Create, ATakenAliasLeavesNoClaimBehind) {
    ASSERT_TRUE(create({plain("shop")})[0].has_value());
    const auto refused = create({plain("shop"), keyed("k", "shop"), keyed("k2", "sale")});
    EXPECT_TRUE(refused[0].error().is(errors::alias_taken));
    EXPECT_TRUE(refused[1].error().is(errors::alias_taken));
    EXPECT_TRUE(refused[2].has_value());
    EXPECT_EQ(house_.value("SELECT string_agg(key, ' ') FROM tenon.claims"), "k2");
    // So the key is free for the same request once the alias is.
    house_.script("DELETE FROM links.links WHERE code = 'shop'");
    const auto made = create({keyed("k", "shop")});
    ASSERT_TRUE(made[0].has_value());
    EXPECT_FALSE(made[0]->is_replayed());
}

TEST_F(Create, AliasesOfOneLengthAreNotTakenForEachOther) {
    ASSERT_TRUE(create({plain("aaaa")})[0].has_value());
    const std::string shared(100, 'x');
    const auto made =
        create({plain("bbbb"), plain("aaaa"), plain("cccc"), keyed("k1", "dddd"),
                keyed("k2", "eeee"), plain(shared + "1"), plain(shared + "2"), plain()});
    for (std::size_t i = 0; i < made.size(); ++i) EXPECT_EQ(made[i].has_value(), i != 1) << i;
    EXPECT_TRUE(made[1].error().is(errors::alias_taken));
    EXPECT_EQ(links(), "8");
}

TEST_F(Create, OneOfABatchGetsAnAlias) {
    const auto made = create({keyed("k1", "shop"), plain("shop"), keyed("k2", "shop"),
                              keyed("k1", "shop"), keyed("k2", "sale", "other")});
    EXPECT_TRUE(made[0].has_value());
    EXPECT_TRUE(made[1].error().is(errors::alias_taken));
    EXPECT_TRUE(made[2].error().is(errors::alias_taken));
    EXPECT_TRUE(made[3]->is_replayed());
    EXPECT_EQ(links(), house_.value("SELECT count(DISTINCT code) FROM links.links"));
    EXPECT_EQ(house_.value("SELECT count(*) FROM links.links WHERE code = 'shop'"), "1");
}

TEST_F(Create, AnAliasTakenMeanwhileIsRefusedAndTheOthersAreMade) {
    auto other = house_.nodes[0].connect();
    other.run("BEGIN");
    other.run(house_.insert_sql("shop"));
    Outcomes outcomes;
    runtime::TaskGroup tasks(house_.host.core.io());
    std::vector<CreateItem> items{plain(), keyed("k1"), keyed("k2", "shop"), keyed("k3", "sale"),
                                  plain("tea")};
    tasks.spawn("create", create_into(creator_, house_.host.call(), items, outcomes));
    house_.turn_until_blocked();
    other.run("COMMIT");
    house_.host.run(tasks.join());
    ASSERT_EQ(outcomes.size(), 5U);
    for (const std::size_t i : {0U, 1U, 3U, 4U}) EXPECT_TRUE(outcomes[i].has_value()) << i;
    ASSERT_FALSE(outcomes[2].has_value());
    EXPECT_TRUE(outcomes[2].error().is(errors::alias_taken));
    EXPECT_EQ(links(), "5");
    EXPECT_EQ(house_.value("SELECT string_agg(key, ' ' ORDER BY key) FROM tenon.claims"), "k1 k3");
}

TEST_F(Create, AnAliasWhoseOtherTakerGivesUpIsMade) {
    auto other = house_.nodes[0].connect();
    other.run("BEGIN");
    other.run(house_.insert_sql("shop"));
    Outcomes outcomes;
    runtime::TaskGroup tasks(house_.host.core.io());
    std::vector<CreateItem> items{keyed("k", "shop")};
    tasks.spawn("create", create_into(creator_, house_.host.call(), items, outcomes));
    house_.turn_until_blocked();
    other.run("ROLLBACK");
    house_.host.run(tasks.join());
    ASSERT_EQ(outcomes.size(), 1U);
    EXPECT_TRUE(outcomes[0].has_value());
    EXPECT_EQ(claims(), "1");
}

TEST_F(Create, WhatTheDatabaseRefusesFailsAlone) {
    Creates creates(house_.host.core, {},
                    [this](runtime::Call& call, std::span<const CreateItem> items) {
                        return creator_.run(call, items);
                    });
    std::vector<Ended> ended(40);
    runtime::TaskGroup tasks(house_.host.core.io());
    for (std::size_t i = 0; i < ended.size(); ++i) {
        auto item = i % 2 == 0 ? plain() : keyed("k" + std::to_string(i));
        if (i == 17) item.row.status = 200;          // a status that the table's check refuses
        if (i == 30) item.row.url = "https://\xff";  // bytes that are no UTF-8
        tasks.spawn("add", add_item(creates, house_.host.call(), std::move(item), ended[i]));
    }
    house_.host.run(tasks.join());
    for (std::size_t i = 0; i < ended.size(); ++i) {
        if (i == 17 || i == 30) {
            EXPECT_TRUE(runtime::is_a<postgres::QueryFailed>(ended[i].failure)) << i;
        } else {
            ASSERT_TRUE(ended[i].result && ended[i].result->has_value()) << i;
        }
    }
    EXPECT_EQ(links(), "38");
    EXPECT_EQ(claims(), "19");
    house_.host.run(creates.close());
}

TEST_F(Create, CodesOfTwoProcessesAreUniqueAndNeverUsedAgain) {
    std::set<std::string> seen;
    for (int round = 0; round < 10; ++round) {
        Outcomes here;
        Outcomes there;
        runtime::TaskGroup tasks(house_.host.core.io());
        const std::vector<CreateItem> items(60, plain());
        tasks.spawn("here", create_into(creator_, house_.host.call(), items, here));
        tasks.spawn("there", create_into(elsewhere_, house_.host.call(), items, there));
        house_.host.run(tasks.join());
        for (const auto* outcomes : {&here, &there}) {
            ASSERT_EQ(outcomes->size(), items.size());
            for (const auto& made : *outcomes) {
                ASSERT_TRUE(made.has_value());
                EXPECT_TRUE(seen.insert(made->row.code).second) << made->row.code;
            }
        }
        house_.script("DELETE FROM links.links");
    }
    EXPECT_EQ(seen.size(), 1'200U);
}

TEST_F(Create, ADrawnCodeThatIsThereAlreadyIsDrawnAnew) {
    // As after a restore of the counters to an earlier day.
    const auto before = create({plain()});
    house_.script("DELETE FROM links.code_counters");
    Outcomes outcomes;
    house_.host.run(create_into(elsewhere_, house_.host.call(), {plain(), keyed("k")}, outcomes));
    ASSERT_EQ(outcomes.size(), 2U);
    ASSERT_TRUE(outcomes[0].has_value());
    ASSERT_TRUE(outcomes[1].has_value());
    EXPECT_NE(outcomes[0]->row.code, before[0]->row.code);
    EXPECT_EQ(links(), "3");
}

}  // namespace
}  // namespace tenon::links
