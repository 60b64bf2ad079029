// Where a row lives: slot from the shard key, bucket from space and slot.
#pragma once

#include <compare>
#include <cstdint>
#include <string_view>

namespace tenon::base {

struct Uuid;

/// How many slots a space has; fixed for ever, so a key is never rehashed.
inline constexpr std::uint32_t slots_total = 1024;

/// A shard key's place within a space: 0 .. 1023.
struct Slot {
    std::uint16_t value = 0;
    auto operator<=>(const Slot&) const = default;
};

/// A group of 1024 buckets placed together; 0 is the default space.
struct Space {
    std::uint32_t value = 0;
    auto operator<=>(const Space&) const = default;
};

/// space × 1024 + slot: begins every primary key and unique constraint of a sharded table.
struct Bucket {
    std::int32_t value = 0;
    auto operator<=>(const Bucket&) const = default;
};

/// XXH3-64 over the project's 16 bytes and the key's bytes, modulo 1024.
///
/// Expects: `key` in its canonical form (UTF-8 bytes, integers big-endian, uuids as 16 bytes).
/// Source:  F88.
[[nodiscard]] Slot slot_of(const Uuid& project, std::string_view key);

/// The bucket of a slot within a space.
[[nodiscard]] constexpr Bucket bucket_of(Space space, Slot slot) {
    return {static_cast<std::int32_t>(space.value * slots_total + slot.value)};
}
/// The slot that a bucket is for.
[[nodiscard]] constexpr Slot slot_of(Bucket bucket) {
    return {static_cast<std::uint16_t>(static_cast<std::uint32_t>(bucket.value) % slots_total)};
}
/// The space that a bucket belongs to.
[[nodiscard]] constexpr Space space_of(Bucket bucket) {
    return {static_cast<std::uint32_t>(bucket.value) / slots_total};
}

}  // namespace tenon::base
