// One page from the pages of several nodes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

namespace tenon::storage {

/// The first `limit` items of all `pages` together.
///
/// Shape:   each page is sorted by `less`; equal items keep the order of their pages.
/// Cost:    O(items × log pages) comparisons, moves each item once.
template <class Item, class Less>
[[nodiscard]] std::vector<Item> merge_pages(std::vector<std::vector<Item>> pages, std::size_t limit,
                                            Less less) {
    struct Head {
        std::size_t page;
        std::size_t at;
    };
    const auto item = [&](const Head& head) -> Item& { return pages[head.page][head.at]; };
    // A heap has its greatest in front: the greatest is the one that comes first.
    const auto later = [&](const Head& left, const Head& right) {
        if (less(item(right), item(left))) {
            return true;
        }
        return !less(item(left), item(right)) && right.page < left.page;
    };
    std::vector<Head> heads;
    for (std::size_t page = 0; page < pages.size(); ++page) {
        if (!pages[page].empty()) {
            heads.push_back({.page = page, .at = 0});
        }
    }
    std::ranges::make_heap(heads, later);
    std::vector<Item> merged;
    while (!heads.empty() && merged.size() < limit) {
        std::ranges::pop_heap(heads, later);
        Head& head = heads.back();
        merged.push_back(std::move(item(head)));
        if (++head.at == pages[head.page].size()) {
            heads.pop_back();
        } else {
            std::ranges::push_heap(heads, later);
        }
    }
    return merged;
}

}  // namespace tenon::storage
