// What every hash ring stands on: points on a circle and whose they are.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/assert.hpp"

namespace tenon::base {

/// Points on the circle of all values of `Point`; a point owns what lies between its predecessor
/// and itself, itself included, and the first point also what lies beyond the last.
///
/// Shape:   of equal points the one with the lowest node stays.
/// Expects: at least one place.
/// Cost:    finding is O(log points).
/// Threads: any; immutable.
template <class Point>
class Circle {
public:
    struct Place {
        Point point{};
        std::uint32_t node = 0;  ///< a number that sorts as the node's name does
        auto operator<=>(const Place&) const = default;
    };

    explicit Circle(std::vector<Place> places) : places_(std::move(places)) {
        TENON_ASSERT(!places_.empty());
        std::ranges::sort(places_);
        const auto rest = std::ranges::unique(places_, {}, &Place::point);
        places_.erase(rest.begin(), rest.end());
        places_.shrink_to_fit();
    }

    /// The place that owns a value.
    [[nodiscard]] const Place& find(Point value) const {
        const auto found = std::ranges::lower_bound(places_, value, {}, &Place::point);
        return found == places_.end() ? places_.front() : *found;
    }

private:
    std::vector<Place> places_;
};

}  // namespace tenon::base
