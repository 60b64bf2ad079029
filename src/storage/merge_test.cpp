#include "storage/merge.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace tenon::storage {
namespace {

using Item = std::pair<int, int>;  // key, page

RC_GTEST_PROP(MergePages, IsTheStableSortOfAllCut, (std::vector<std::vector<int>> keys)) {
    std::vector<std::vector<Item>> pages;
    std::vector<Item> all;
    for (auto& page : keys) {
        std::ranges::sort(page);
        pages.emplace_back();
        for (const int key : page) {
            pages.back().emplace_back(key, static_cast<int>(pages.size()));
        }
        all.insert(all.end(), pages.back().begin(), pages.back().end());
    }
    const auto less = [](const Item& left, const Item& right) { return left.first < right.first; };
    std::ranges::sort(all);  // by key, then page: what a stable sort would give
    const auto limit = *rc::gen::inRange<std::size_t>(0, all.size() + 2);
    all.resize(std::min(limit, all.size()));
    RC_ASSERT(merge_pages(pages, limit, less) == all);
}

}  // namespace
}  // namespace tenon::storage
