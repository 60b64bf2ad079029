#include "runtime/nearest.hpp"

#include <algorithm>
#include <vector>

namespace tenon::runtime {

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before(b.size() + 1);
    std::vector<std::size_t> last(b.size() + 1);
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
            const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
        }
        std::swap(before, last);
        std::swap(last, row);
    }
    return last[b.size()];
}

std::optional<std::string_view> nearest_name(std::string_view name,
                                             std::span<const std::string_view> known) {
    constexpr std::size_t length_max = 64;
    constexpr std::size_t edits_max = 4;
    if (name.size() > length_max) return std::nullopt;
    std::optional<std::string_view> nearest;
    std::size_t distance_of_nearest = edits_max + 1;
    for (const std::string_view candidate : known) {
        const std::size_t longer = std::max(name.size(), candidate.size());
        const std::size_t allowed = std::clamp<std::size_t>(longer / 3, 1, edits_max);
        const std::size_t distance = edit_distance(name, candidate);
        if (distance > allowed || distance >= distance_of_nearest) continue;
        nearest = candidate;
        distance_of_nearest = distance;
    }
    return nearest;
}

}  // namespace tenon::runtime
