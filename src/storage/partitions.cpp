#include "storage/partitions.hpp"

#include <map>

namespace tenon::storage {

namespace {

constexpr std::int32_t part_size = 64;  // tenon.partition_by_bucket's

}  // namespace

std::vector<Partition> partitions_of(const Map& map) {
    std::vector<Partition> partitions;
    for (std::uint32_t node = 0; node < map.nodes().size(); ++node) {
        std::map<std::int32_t, Partition> parts;
        for (const base::Bucket bucket : map.buckets_of(Node{node})) {
            const auto first = bucket.value / part_size * part_size;
            auto& part = parts[first];
            part.first = first;
            part.end = first + part_size;
            part.buckets.push_back(bucket);
        }
        for (auto& [first, part] : parts) partitions.push_back(std::move(part));
    }
    return partitions;
}

}  // namespace tenon::storage
