#include "base/maglev.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.hpp"
#include "base/errors.hpp"
#include "base/hash.hpp"

namespace tenon::base {
namespace {

constexpr std::uint32_t size_max = 1 << 24;
constexpr std::uint32_t free_entry = UINT32_MAX;

bool is_prime(std::uint32_t number) {
    if (number < 2) return false;
    for (std::uint32_t divisor = 2; divisor <= number / divisor; ++divisor) {
        if (number % divisor == 0) return false;
    }
    return true;
}

/// One node on its way through the entries that it wishes for.
struct Turn {
    std::uint64_t place;
    std::uint64_t skip;
    std::uint64_t weight;
    std::uint64_t credit;  ///< a turn costs the highest weight
};

std::vector<Turn> begin_turns(std::span<const MaglevWish> wishes, std::uint64_t highest,
                              std::uint32_t size) {
    std::vector<Turn> turns;
    turns.reserve(wishes.size());
    for (const MaglevWish& wish : wishes) {
        TENON_ASSERT(wish.weight >= 1 && wish.offset < size && wish.skip >= 1 && wish.skip < size);
        turns.push_back({.place = wish.offset,
                         .skip = wish.skip,
                         .weight = wish.weight,
                         .credit = highest - wish.weight});
    }
    return turns;
}

}  // namespace

std::vector<std::uint32_t> fill_maglev(std::span<const MaglevWish> wishes, std::uint32_t size) {
    TENON_ASSERT(!wishes.empty() && wishes.size() <= size && is_prime(size));
    const std::uint64_t highest = std::ranges::max(wishes, {}, &MaglevWish::weight).weight;
    std::vector<Turn> turns = begin_turns(wishes, highest, size);
    std::vector<std::uint32_t> table(size, free_entry);
    std::uint32_t left = size;
    while (true) {
        for (std::uint32_t node = 0; node < turns.size(); ++node) {
            Turn& turn = turns[node];
            turn.credit += turn.weight;
            if (turn.credit < highest) continue;
            turn.credit -= highest;
            // The size is prime, so a node comes by every entry and finds the free one.
            while (table[turn.place] != free_entry) turn.place = (turn.place + turn.skip) % size;
            table[turn.place] = node;
            if (--left == 0) return table;
        }
    }
}

Result<MaglevTable> MaglevTable::make(std::vector<Node> nodes, MaglevOptions options) {
    auto sorted = sort_nodes(std::move(nodes));
    if (!sorted) return fail(std::move(sorted).error());
    const std::uint32_t size = options.size;
    if (size < sorted->size() || size > size_max || !is_prime(size)) {
        return fail(errors::invalid_placement,
                    fmt::format("A table of {} entries cannot serve {} nodes; take a prime from "
                                "their number to {}.",
                                size, sorted->size(), size_max));
    }
    std::vector<MaglevWish> wishes;
    wishes.reserve(sorted->size());
    for (const Node& node : *sorted) {
        wishes.push_back({.offset = point_of(node.name, 0) % size,
                          .skip = point_of(node.name, 1) % (size - 1) + 1,
                          .weight = node.weight});
    }
    return MaglevTable(*std::move(sorted), fill_maglev(wishes, size));
}

std::string_view MaglevTable::owner(std::string_view key) const {
    return nodes_[table_[hash64(key) % table_.size()]].name;
}

}  // namespace tenon::base
