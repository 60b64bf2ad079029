// Arrays of links over several nodes: one transaction on each, and a repeat that finishes the rest.
#include <gtest/gtest.h>

#include <string>

#include "runtime/json.hpp"
#include "runtime/task_group.hpp"
#include "services/links/links.hpp"
#include "services/links/test_links.hpp"

namespace tenon::links {
namespace {

using boost::asio::awaitable;

/// A process's part: its near cache and its only core's service.
struct Process {
    Process(TestLinks& house, storage::Database& database)
        : links(house.host.core, database, shared, house.domains) {}

    Shared shared{{}, base::BijectionKey{1, 2, 3}, base::SealKey{4, 5, 6}};
    Links links;
};

/// Arrays over three nodes.
class Arrays : public testing::Test {
protected:
    Arrays() {
        for (int item = 0; item < 60; ++item) {
            asked_.links.push_back(link_to("https://bulk.example/" + std::to_string(item)));
        }
    }
    ~Arrays() override {
        house_.host.run(here_.links.close());
        house_.host.run(there_.links.close());
    }
    static CreateLink link_to(std::string url) {
        CreateLink link;
        link.url = std::move(url);
        return link;
    }
    runtime::Call keyed_call(const std::string& key) {
        auto keyed = house_.host.call();
        keyed.project = house_.project;
        keyed.claim = runtime::Claim{.key = key, .fingerprint = base::sha256("body")};
        return keyed;
    }
    /// A key whose array is claimed on another node.
    std::string key_beside(std::size_t node) {
        for (int number = 0;; ++number) {
            auto key = "bulk-" + std::to_string(number);
            const auto bucket =
                base::bucket_of(house_.domain().space, base::slot_of(house_.project, key));
            if (house_.map->place_of(bucket).node.index != node) return key;
        }
    }
    std::string made(std::size_t node, const std::string& what = "count(*)") {
        return house_.value(
            "SELECT " + what + " FROM links.links WHERE url LIKE 'https://bulk.example/%'", node);
    }
    int made_in_all() {
        int all = 0;
        for (std::size_t node = 0; node < 3; ++node) all += std::stoi(made(node));
        return all;
    }
    void set_epochs(std::size_t node, int epoch) {
        house_.script("UPDATE tenon.fences SET epoch = " + std::to_string(epoch), node);
    }

    TestLinks house_{3};
    Process here_{house_, *house_.database};
    Process there_{house_, house_.elsewhere};
    CreateLinks asked_;
};

awaitable<void> create_single(Links& links, runtime::Call call, CreateLink asked,
                              std::size_t& made) {
    if (co_await links.create(call, std::move(asked))) ++made;
}

awaitable<void> create_bulk(Links& links, runtime::Call& call, CreateLinks asked,
                            std::optional<base::Result<Verdicts>>& verdicts) {
    verdicts = co_await links.create_all(call, std::move(asked));
}

TEST_F(Arrays, IsOneTransactionOnEachNodeWhateverElseIsCreated) {
    auto bulk = keyed_call("bulk");
    std::optional<base::Result<Verdicts>> verdicts;
    std::size_t made_alone = 0;
    runtime::TaskGroup tasks(house_.host.core.io());
    for (int number = 0; number < 40; ++number) {
        tasks.spawn("create",
                    create_single(here_.links, keyed_call("single-" + std::to_string(number)),
                                  link_to("https://example.org/"), made_alone));
    }
    tasks.spawn("bulk", create_bulk(here_.links, bulk, asked_, verdicts));
    for (int number = 40; number < 80; ++number) {
        tasks.spawn("create",
                    create_single(here_.links, keyed_call("single-" + std::to_string(number)),
                                  link_to("https://example.org/"), made_alone));
    }
    house_.host.run(tasks.join());
    EXPECT_EQ(made_alone, 80U);
    EXPECT_EQ(made_in_all(), 60);
    for (std::size_t node = 0; node < 3; ++node) {
        EXPECT_EQ(made(node, "count(DISTINCT xmin::text)"), "1") << node;
    }
}

TEST_F(Arrays, CutOffBetweenItsNodesIsFinishedByItsRepeat) {
    constexpr std::size_t moving = 1;
    const auto key = key_beside(moving);
    set_epochs(moving, 2);
    auto first = keyed_call(key);
    EXPECT_TRUE(runtime::is_a<storage::BucketsMoved>(
        house_.host.run(runtime::failure_of(here_.links.create_all(first, asked_)))));
    EXPECT_EQ(made(moving), "0");
    const int before = made_in_all();
    EXPECT_GT(before, 0);
    EXPECT_LT(before, 60);
    set_epochs(moving, 1);
    auto second = keyed_call(key);
    const auto rest = house_.host.run(there_.links.create_all(second, asked_));
    ASSERT_TRUE(rest);
    EXPECT_EQ(made_in_all(), 60);
    for (std::size_t item = 0; item < asked_.links.size(); ++item) {
        ASSERT_TRUE(rest->results[item].link) << item;
        EXPECT_EQ(rest->results[item].link->url, asked_.links[item].url);
    }
    auto third = keyed_call(key);
    const auto again = house_.host.run(here_.links.create_all(third, asked_));
    EXPECT_TRUE(third.claim->replayed);
    EXPECT_EQ(runtime::to_json(*again), runtime::to_json(*rest));
    EXPECT_EQ(made_in_all(), 60);
}

TEST_F(Arrays, ThatIsCancelledEndsAsCancelledAndItsRepeatFinishesIt) {
    constexpr std::size_t halted = 1;
    const auto key = key_beside(halted);
    auto gate = house_.nodes[halted].connect();
    gate.run("BEGIN; LOCK TABLE links.links");
    auto first = keyed_call(key);
    std::optional<base::Result<Verdicts>> verdicts;
    runtime::TaskGroup tasks(house_.host.core.io());
    tasks.spawn("bulk", create_bulk(here_.links, first, asked_, verdicts));
    house_.turn_until_blocked(halted);
    tasks.cancel();
    house_.host.run(tasks.join());
    EXPECT_FALSE(verdicts);
    gate.run("COMMIT");
    auto second = keyed_call(key);
    ASSERT_TRUE(house_.host.run(there_.links.create_all(second, asked_)));
    EXPECT_EQ(made_in_all(), 60);
}

TEST_F(Arrays, AMovingBucketLeavesTheOtherItemsOfItsNodeAlone) {
    constexpr std::size_t node = 2;
    const auto key = key_beside(node);
    const auto item_bucket = [&](int item) {
        return base::bucket_of(house_.domain().space,
                               base::slot_of(house_.project, key + "\x1f" + std::to_string(item)));
    };
    int item = 0;
    while (house_.map->place_of(item_bucket(item)).node.index != node) ++item;
    house_.script("UPDATE tenon.fences SET epoch = 2 WHERE bucket = " +
                      std::to_string(item_bucket(item).value),
                  node);
    auto first = keyed_call(key);
    EXPECT_TRUE(runtime::is_a<storage::BucketsMoved>(
        house_.host.run(runtime::failure_of(here_.links.create_all(first, asked_)))));
    EXPECT_GE(made_in_all(), 50);  // two items seldom share a bucket
    EXPECT_LT(made_in_all(), 60);
    set_epochs(node, 1);
    auto second = keyed_call(key);
    ASSERT_TRUE(house_.host.run(here_.links.create_all(second, asked_)));
    EXPECT_EQ(made_in_all(), 60);
}

}  // namespace
}  // namespace tenon::links
