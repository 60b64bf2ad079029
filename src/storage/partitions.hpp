// The partitions that jobs go through one after the other.
#pragma once

#include <cstdint>
#include <vector>

#include "base/slot.hpp"
#include "storage/map.hpp"

namespace tenon::storage {

/// The buckets of one node within one partition of a table partitioned by bucket range.
struct Partition {
    std::int32_t first = 0;  ///< of the partition's range
    std::int32_t end = 0;    ///< after its last
    std::vector<base::Bucket> buckets;
};

/// Those of all nodes, node after node. As tenon.partition_by_bucket makes them.
[[nodiscard]] std::vector<Partition> partitions_of(const Map& map);

}  // namespace tenon::storage
