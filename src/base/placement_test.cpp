#include "base/placement.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <set>

#include "base/errors.hpp"
#include "base/fixed_slots.hpp"
#include "base/hash.hpp"
#include "base/hash_ring.hpp"
#include "base/jump.hpp"
#include "base/ketama.hpp"
#include "base/maglev.hpp"
#include "base/random.hpp"
#include "base/rendezvous.hpp"

namespace tenon::base {
namespace {

using Shared = std::shared_ptr<const Placement>;
using Maker = std::function<Result<Shared>(const std::vector<Node>&)>;

template <class Scheme, class... Options>
Maker maker(Options... options) {
    return [=](const std::vector<Node>& nodes) -> Result<Shared> {
        auto made = Scheme::make(nodes, options...);
        if (!made) return fail(std::move(made).error());
        return std::make_shared<const Scheme>(*std::move(made));
    };
}

struct Named {
    std::string name;
    Maker make;
};

const std::vector<Named>& schemes() {
    static const std::vector<Named> all{
        {"ring", maker<HashRing>()},      {"ketama", maker<KetamaRing>()},
        {"jump", maker<JumpPlacement>()}, {"maglev", maker<MaglevTable>()},
        {"slots", maker<FixedSlots>()},   {"rendezvous", maker<Rendezvous>()},
    };
    return all;
}

/// The same with few points and entries, for properties that make many.
const std::vector<Named>& small_schemes() {
    static const std::vector<Named> all{
        {"ring", maker<HashRing>(HashRingOptions{.points_per_weight = 8})},
        {"ketama", maker<KetamaRing>()},
        {"jump", maker<JumpPlacement>()},
        {"maglev", maker<MaglevTable>(MaglevOptions{.size = 251})},
        {"slots", maker<FixedSlots>(64u)},
        {"rendezvous", maker<Rendezvous>()},
    };
    return all;
}

/// 200,000 keys, the same in every test.
const std::vector<std::string>& all_keys() {
    static const std::vector<std::string> keys = [] {
        std::vector<std::string> made;
        made.reserve(200'000);
        for (int i = 0; i < 200'000; ++i) made.push_back(fmt::format("key:{}", i));
        return made;
    }();
    return keys;
}

std::vector<Node> equal_nodes(std::size_t count) {
    std::vector<Node> nodes;
    nodes.reserve(count);
    for (std::size_t i = 0; i < count; ++i)
        nodes.push_back({.name = fmt::format("cache-{:02}", i)});
    return nodes;
}

std::map<std::string, double> shares(const Placement& placement) {
    std::map<std::string, double> shares;
    for (const std::string& key : all_keys()) shares[std::string(placement.owner(key))] += 1;
    for (auto& [name, share] : shares) share /= static_cast<double>(all_keys().size());
    return shares;
}

double moved_part(const Maker& make, std::size_t before, std::size_t after) {
    const Shared old_one = make(equal_nodes(before)).value();
    const Shared new_one = make(equal_nodes(after)).value();
    return static_cast<double>(moved(*old_one, *new_one, all_keys()).size()) /
           static_cast<double>(all_keys().size());
}

/// Place in the list = hash modulo its length: what placement is there to replace.
class Modulo final : public Placement {
public:
    static Result<Modulo> make(std::vector<Node> nodes) { return Modulo(std::move(nodes)); }
    [[nodiscard]] std::string_view owner(std::string_view key) const override {
        return nodes_[hash64(key) % nodes_.size()].name;
    }

private:
    explicit Modulo(std::vector<Node> nodes) : nodes_(std::move(nodes)) {}
    std::vector<Node> nodes_;
};

// From 10 to 11 nodes, 1/11 of all keys must move.
TEST(Placement, ModuloMovesNearlyAllAndTheOthersNearlyOnlyWhatTheyMust) {
    EXPECT_NEAR(moved_part(maker<Modulo>(), 10, 11), 0.91, 0.01);
    EXPECT_NEAR(moved_part(maker<HashRing>(), 10, 11), 0.091, 0.015);
    EXPECT_NEAR(moved_part(maker<KetamaRing>(), 10, 11), 0.091, 0.015);
    EXPECT_NEAR(moved_part(maker<JumpPlacement>(), 10, 11), 0.091, 0.003);
    EXPECT_NEAR(moved_part(maker<Rendezvous>(), 10, 11), 0.091, 0.003);
    const double maglev = moved_part(maker<MaglevTable>(), 10, 11);
    EXPECT_GT(maglev, 0.088);
    EXPECT_LT(maglev, 0.15);
}

TEST(Placement, EqualNodesHaveSharesNearTheMean) {
    const std::map<std::string, double> allowed{{"ring", 0.2},   {"ketama", 0.2},
                                                {"jump", 0.03},  {"maglev", 0.03},
                                                {"slots", 0.06}, {"rendezvous", 0.03}};
    for (const auto& [name, make] : schemes()) {
        const auto parts = shares(*make(equal_nodes(10)).value());
        ASSERT_EQ(parts.size(), 10u) << name;
        for (const auto& [node, share] : parts) {
            EXPECT_NEAR(share / 0.1, 1, allowed.at(name)) << name << " " << node;
        }
    }
}

TEST(Placement, ADeadNodesKeysSpreadOverAllOthers) {
    for (const auto& [name, make] : schemes()) {
        // Of jump only the last node can go, slots are moved from the table there is.
        if (name == "jump" || name == "slots") continue;
        const Shared before = make(equal_nodes(10)).value();
        std::vector<Node> rest = equal_nodes(10);
        rest.erase(rest.begin() + 3);
        const Shared after = make(rest).value();
        std::map<std::string_view, int> heirs;
        int dead = 0;
        for (const Move& move : moved(*before, *after, all_keys())) {
            if (move.from != "cache-03") continue;
            ++heirs[move.to];
            ++dead;
        }
        EXPECT_EQ(heirs.size(), 9u) << name;
        for (const auto& [heir, keys] : heirs) {
            EXPECT_GT(keys, dead / 9 / 3) << name << " " << heir;
            EXPECT_LT(keys, dead / 9 * 2) << name << " " << heir;
        }
    }
}

TEST(Placement, WeightsAreHonoured) {
    const std::vector<Node> nodes{{.name = "small", .weight = 1},
                                  {.name = "middle", .weight = 2},
                                  {.name = "large", .weight = 5}};
    for (const auto& [name, make] : schemes()) {
        if (name == "jump") {
            const auto refused = make(nodes);
            ASSERT_FALSE(refused);
            EXPECT_TRUE(refused.error().is(errors::invalid_placement));
            continue;
        }
        auto parts = shares(*make(nodes).value());
        EXPECT_NEAR(parts["small"] * 8 / 1, 1, 0.2) << name;
        EXPECT_NEAR(parts["middle"] * 8 / 2, 1, 0.2) << name;
        EXPECT_NEAR(parts["large"] * 8 / 5, 1, 0.2) << name;
    }
}

TEST(Placement, WithoutNodesThereIsNone) {
    for (const auto& [name, make] : schemes()) {
        const auto refused = make({});
        ASSERT_FALSE(refused) << name;
        EXPECT_TRUE(refused.error().is(errors::no_nodes)) << name;
    }
}

TEST(Placement, RefusesWhatCannotBePlacedOn) {
    const std::vector<std::vector<Node>> bad{
        {{.name = "a"}, {.name = ""}}, {{.name = "a"}, {.name = "b"}, {.name = "a"}},
        {{.name = "a", .weight = 0}},  {{.name = "a", .weight = node_weight_max + 1}},
        equal_nodes(nodes_max + 1),
    };
    for (const auto& [name, make] : schemes()) {
        for (const auto& nodes : bad) {
            const auto refused = make(nodes);
            ASSERT_FALSE(refused) << name;
            EXPECT_TRUE(refused.error().is(errors::invalid_placement)) << name;
        }
    }
}

std::vector<Node> draw_nodes(bool weights) {
    const auto names = *rc::gen::nonEmpty(rc::gen::container<std::set<std::string>>(
        rc::gen::nonEmpty(rc::gen::string<std::string>())));
    std::vector<Node> nodes;
    nodes.reserve(names.size());
    for (const std::string& name : names) {
        nodes.push_back({.name = name, .weight = weights ? *rc::gen::inRange(1u, 9u) : 1});
        if (nodes.size() == 12) break;
    }
    return nodes;
}

RC_GTEST_PROP(Placement, TheOrderOfTheNodesDoesNotMatter, (const std::vector<std::string>& keys)) {
    std::vector<Node> nodes = draw_nodes(true);
    SeededRandom random(nodes.size());
    std::vector<Node> mixed = nodes;
    for (std::size_t i = mixed.size(); i > 1; --i) std::swap(mixed[i - 1], mixed[random.below(i)]);
    for (const auto& [name, make] : small_schemes()) {
        if (name == "jump") continue;  // its order is its names
        const Shared one = make(nodes).value();
        const Shared other = make(mixed).value();
        RC_ASSERT(moved(*one, *other, keys).empty());
    }
}

RC_GTEST_PROP(Placement, EveryOwnerIsANode, (const std::vector<std::string>& keys)) {
    const std::vector<Node> nodes = draw_nodes(false);
    for (const auto& [name, make] : small_schemes()) {
        const Shared placement = make(nodes).value();
        for (const std::string& key : keys) {
            const auto owner = placement->owner(key);
            RC_ASSERT(std::ranges::find(nodes, owner, &Node::name) != nodes.end());
        }
    }
}

RC_GTEST_PROP(Placement, ANewNodeTakesAndNobodyElseDoes, ()) {
    std::vector<Node> nodes = draw_nodes(true);
    const Node added{.name = "the new one", .weight = 3};
    for (const Maker& make : {small_schemes().front().make, small_schemes().back().make}) {
        const Shared before = make(nodes).value();
        nodes.push_back(added);
        const Shared after = make(nodes).value();
        nodes.pop_back();
        const std::span<const std::string> keys = std::span(all_keys()).first(200);
        for (const Move& move : moved(*before, *after, keys)) RC_ASSERT(move.to == added.name);
        for (const Move& move : moved(*after, *before, keys)) RC_ASSERT(move.from == added.name);
    }
}

TEST(Moved, NamesKeyAndBothOwnersInTheOrderOfTheKeys) {
    const auto before = JumpPlacement::make(equal_nodes(4)).value();
    const auto after = JumpPlacement::make(equal_nodes(5)).value();
    const std::span<const std::string> keys = std::span(all_keys()).first(1'000);
    const std::vector<Move> moves = moved(before, after, keys);
    std::size_t next = 0;
    for (const std::string& key : keys) {
        if (before.owner(key) == after.owner(key)) continue;
        ASSERT_LT(next, moves.size());
        EXPECT_EQ(moves[next],
                  (Move{.key = key, .from = before.owner(key), .to = after.owner(key)}));
        EXPECT_EQ(moves[next].to, "cache-04");
        ++next;
    }
    EXPECT_EQ(next, moves.size());
    EXPECT_GT(next, 150u);
}

TEST(Moved, FlowsAreThePartsThatTheKeysShow) {
    const auto before = HashRing::make(equal_nodes(4)).value();
    const auto after = HashRing::make(equal_nodes(5)).value();
    std::map<std::pair<std::string_view, std::string_view>, double> counted;
    for (const Move& move : moved(before, after, all_keys())) counted[{move.from, move.to}] += 1;
    const std::vector<Flow> flows = moved(before, after);
    ASSERT_EQ(flows.size(), counted.size());
    EXPECT_TRUE(std::ranges::is_sorted(flows));
    for (const Flow& flow : flows) {
        const double part = counted[{flow.from, flow.to}] / static_cast<double>(all_keys().size());
        EXPECT_NEAR(flow.share, part, 0.008);
    }
    EXPECT_TRUE(moved(before, before).empty());
}

// These owners are data: caches and routes are found by them. Reckoned from the definitions in the
// headers by another program.
TEST(Placement, FixedVectors) {
    const std::vector<Node> nodes{{.name = "alpha", .weight = 1},
                                  {.name = "beta", .weight = 2},
                                  {.name = "gamma", .weight = 3}};
    const std::vector<Node> plain{{.name = "alpha"}, {.name = "beta"}, {.name = "gamma"}};
    const auto initials = [](const Placement& placement) {
        std::string text;
        for (int i = 0; i < 16; ++i) text += placement.owner(fmt::format("key:{}", i)).front();
        text += placement.owner("").front();
        text += placement.owner(std::string(1'000, 'x')).front();
        return text;
    };
    EXPECT_EQ(initials(HashRing::make(nodes).value()), "ggabbgbgagbagbbggb");
    EXPECT_EQ(initials(Rendezvous::make(nodes).value()), "gbbgggggagagggbggg");
    EXPECT_EQ(initials(JumpPlacement::make(plain).value()), "abbababbggbgagabab");
    EXPECT_EQ(initials(MaglevTable::make(nodes).value()), "gggabgbggabbbbggab");
    EXPECT_EQ(point_of("alpha", 0), 0x459a5691e2425b52u);
    EXPECT_EQ(point_of("alpha", 159), 0x1f5cf532dcfaa4bu);
}

}  // namespace
}  // namespace tenon::base
