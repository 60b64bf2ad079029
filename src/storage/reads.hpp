// Reads that several nodes answer together: what is asked, and what comes of it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/slot.hpp"
#include "postgres/query.hpp"
#include "postgres/rows.hpp"
#include "storage/coverage.hpp"

namespace tenon::storage {

/// The bounds of reads over nodes.
struct ReadOptions {
    /// How often nodes are asked until their answers cover every bucket exactly once. >= 1
    int rounds_max = 5;
    /// Pause before the second round, twice as long before each later one; a new map ends it. The
    /// defaults are longer together than the second in which a process hears of a new map.
    std::chrono::milliseconds pause{100};
    /// How long a scatter waits for its slowest node.
    std::chrono::milliseconds scatter_limit{5'000};
    /// Scatters of a core at the same time; one more is refused at once. >= 1
    std::size_t scatters_max = 2;
};

/// The query of one node for some of many keys, given by their places in the caller's list.
using AskKeys = std::function<postgres::Query(std::span<const std::size_t> keys)>;

/// What one node gave of a read over many keys.
struct KeysPart {
    std::vector<std::size_t> keys;  ///< the places of its keys, as its query got them
    postgres::Rows rows;
};

/// The query of one node over what lies there. Its statement leaves out rows of other buckets by
/// `owned.bits`: CASE WHEN bucket < 8 * length($n) THEN get_bit($n, bucket) = 1 END.
using AskNode = std::function<postgres::Query(const Owned& owned)>;

/// A page over all nodes.
template <class Row>
struct MergeOrder {
    std::int32_t limit = 0;  ///< rows of the page
    /// The query of one node, sorted by `before`, of at most `rows_max` rows behind the cursor.
    /// The cursor is one for all nodes, the last row returned: a position per node would repeat
    /// rows of a bucket that moves between two pages.
    std::function<postgres::Query(const Owned& owned, std::int32_t rows_max)> ask;
    /// A total order.
    std::function<bool(const Row& left, const Row& right)> before;
};

/// What a merge gives.
template <class Row>
struct Page {
    std::vector<Row> rows;
    bool has_more = false;  ///< there are rows behind these
};

/// What a scatter gives: the rows of each node that answered in time, and what is missing.
struct Scattered {
    /// A node without an answer.
    struct Silent {
        std::string node;
        std::string why;
    };
    std::vector<postgres::Rows> parts;
    std::vector<Silent> silent;
    std::vector<base::Bucket> missing;  ///< not covered exactly once, in order

    [[nodiscard]] bool is_partial() const { return !silent.empty() || !missing.empty(); }
};

}  // namespace tenon::storage
