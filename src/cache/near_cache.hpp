// The nearest copy: in this process, bounded by bytes, scan-resistant.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

namespace tenon::cache {

/// See foundation 5. Values are shared and immutable.
///
/// Shape:   get never loads; put replaces; a negative entry (known absence) is a value of its own.
/// Threads: all.
/// Cost:    get O(1), no allocation, no shared write lock on a hit.
template <class Value>
class NearCache {
public:
    struct Options {
        std::size_t bytes_max = 64 << 20;
        std::chrono::milliseconds ttl{5'000};           ///< the stated bound of staleness
        double ttl_jitter = 0.1;                        ///< share of the ttl, uniform
        std::chrono::milliseconds negative_ttl{1'000};
    };
    using Pointer = std::shared_ptr<const Value>;
    struct Found {
        Pointer value;  ///< null: known absence
    };
    /// nullopt: not known here.
    std::optional<Found> get(std::string_view key, std::chrono::steady_clock::time_point now) const;
    void put(std::string_view key, Pointer value, std::size_t bytes);
    void put_absence(std::string_view key);
    /// Removes the entry and voids loads of it that are running (F64).
    void invalidate(std::string_view key);
};

}  // namespace tenon::cache
