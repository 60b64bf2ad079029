#include "base/placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/errors.hpp"
#include "base/hash.hpp"

namespace tenon::base {
namespace {

/// How many keys stand for all keys.
constexpr std::uint32_t probes = 65'536;

}  // namespace

std::vector<Move> moved(const Placement& before, const Placement& after,
                        std::span<const std::string> keys) {
    std::vector<Move> moves;
    for (const std::string& key : keys) {
        const Move move{.key = key, .from = before.owner(key), .to = after.owner(key)};
        if (move.from != move.to) moves.push_back(move);
    }
    return moves;
}

std::vector<Flow> moved(const Placement& before, const Placement& after) {
    std::map<std::pair<std::string_view, std::string_view>, std::uint32_t> counts;
    for (std::uint32_t i = 0; i < probes; ++i) {
        const std::string key = fmt::format("probe:{}", i);
        const std::pair change(before.owner(key), after.owner(key));
        if (change.first != change.second) ++counts[change];
    }
    std::vector<Flow> flows;
    flows.reserve(counts.size());
    for (const auto& [change, count] : counts) {
        flows.push_back({.from = change.first, .to = change.second, .share = count * 1.0 / probes});
    }
    return flows;
}

Result<std::vector<Node>> sort_nodes(std::vector<Node> nodes) {
    if (nodes.empty()) return fail(errors::no_nodes, "There is no node; name at least one.");
    if (nodes.size() > nodes_max) {
        return fail(errors::invalid_placement,
                    fmt::format("There are {} nodes; at most {} can be placed on.", nodes.size(),
                                nodes_max));
    }
    std::ranges::sort(nodes, {}, &Node::name);
    for (const Node& node : nodes) {
        if (node.name.empty()) {
            return fail(errors::invalid_placement, "A node has no name; name every node.");
        }
        if (node.weight == 0 || node.weight > node_weight_max) {
            return fail(errors::invalid_placement,
                        fmt::format("Node {} has weight {}; weights are 1 to {}. Leave out a node "
                                    "that is to own nothing.",
                                    node.name, node.weight, node_weight_max));
        }
    }
    const auto twice = std::ranges::adjacent_find(nodes, {}, &Node::name);
    if (twice != nodes.end()) {
        return fail(errors::invalid_placement,
                    fmt::format("Node {} is named twice; name it once.", twice->name));
    }
    return nodes;
}

std::uint64_t point_of(std::string_view name, std::uint64_t index) {
    std::string bytes(name);
    for (int shift = 56; shift >= 0; shift -= 8) {
        bytes.push_back(static_cast<char>(static_cast<std::uint8_t>(index >> shift)));
    }
    return hash64(bytes);
}

}  // namespace tenon::base
