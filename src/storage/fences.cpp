#include "storage/fences.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <string>
#include <vector>

#include "storage/locks.hpp"

namespace tenon::storage {

namespace {

// $1 buckets, $2 epochs.
constexpr auto add_fences = R"(
    WITH added AS (
        INSERT INTO tenon.fences (bucket, state, epoch, timeline)  -- fences_pkey
        SELECT bucket, 'active', epoch, tenon.timeline()
        FROM unnest($1::integer[], $2::bigint[]) AS wanted (bucket, epoch)
        WHERE epoch = 1
        ORDER BY bucket
        ON CONFLICT (bucket) DO NOTHING
        RETURNING 1)
    SELECT count(*) FROM added)";

// $1 buckets, $2 epochs.
constexpr auto confirm_fences = R"(
    WITH confirmed AS (
        UPDATE tenon.fences AS fence  -- fences_pkey
        SET timeline = tenon.timeline()
        FROM unnest($1::integer[], $2::bigint[]) AS wanted (bucket, epoch)
        WHERE fence.bucket = wanted.bucket
          AND fence.epoch = wanted.epoch
          AND fence.state = 'active'
          AND fence.timeline <> tenon.timeline()
        RETURNING 1)
    SELECT count(*) FROM confirmed)";

// $1 buckets, $2 epochs.
constexpr auto count_differing = R"(
    SELECT count(*)
    FROM unnest($1::integer[], $2::bigint[]) AS wanted (bucket, epoch)
    LEFT JOIN tenon.fences AS fence ON fence.bucket = wanted.bucket  -- fences_pkey
    WHERE (fence.state = 'active' AND fence.epoch = wanted.epoch) IS NOT TRUE)";

// $1 the highest space of the map.
constexpr auto open_spaces = R"(
    SELECT tenon.open_space(wanted)
    FROM generate_series(0, $1::integer) AS wanted
    WHERE NOT EXISTS (SELECT FROM tenon.spaces WHERE space = wanted)  -- spaces_pkey
    ORDER BY wanted)";

}  // namespace

FilledFences fill_fences(Session& session, const Map& map, Node node) {
    std::vector<std::int32_t> buckets;
    std::vector<std::int64_t> epochs;
    for (const base::Bucket bucket : map.buckets_of(node)) {
        buckets.push_back(bucket.value);
        epochs.push_back(map.place_of(bucket).epoch);
    }
    const auto bucket_array = fmt::format("{{{}}}", fmt::join(buckets, ","));
    const auto epoch_array = fmt::format("{{{}}}", fmt::join(epochs, ","));
    FilledFences filled;
    session.run("BEGIN");
    session.run(fmt::format("SELECT pg_advisory_xact_lock({}, {})", job_lock_class, fences_lock));
    session.run(open_spaces, {std::to_string(map.spaces_total() - 1)});
    filled.added = std::stoul(session.value(add_fences, {bucket_array, epoch_array}));
    filled.confirmed = std::stoul(session.value(confirm_fences, {bucket_array, epoch_array}));
    filled.differing = std::stoul(session.value(count_differing, {bucket_array, epoch_array}));
    session.run("COMMIT");
    return filled;
}

void fill_fences(const Map& map) {
    for (std::uint32_t index = 0; index < map.nodes().size(); ++index) {
        const Map::NodeSpec& spec = map.nodes()[index];
        Session session({.node = spec.name, .conninfo = spec.conninfo});
        fill_fences(session, map, Node{index});
    }
}

}  // namespace tenon::storage
