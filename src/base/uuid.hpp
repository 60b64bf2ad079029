// RFC 9562 identifiers: v7 that carry their slot, v4 for what must not be guessed or dated.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/random.hpp"
#include "base/slot.hpp"

namespace tenon::base {

/// 16 bytes in network order, as PostgreSQL's uuid.
struct Uuid {
    std::array<std::uint8_t, 16> bytes{};

    auto operator<=>(const Uuid&) const = default;
    [[nodiscard]] bool is_nil() const { return *this == Uuid{}; }
};

/// The 36-character form with hyphens, lower case.
[[nodiscard]] std::string format_uuid(const Uuid& id);
/// Accepts the 36-character form in either case; anything else is nullopt.
[[nodiscard]] std::optional<Uuid> parse_uuid(std::string_view text);

/// Draws a v4: 122 random bits.
[[nodiscard]] Uuid make_uuid_v4(Random& random);

/// The slot that a v7 of this product carries in the first 10 bits of rand_a.
[[nodiscard]] Slot slot_of(const Uuid& v7);
/// The millisecond that a v7 carries.
[[nodiscard]] Time time_of(const Uuid& v7);

/// Makes UUIDv7 that are strictly increasing per slot, also when the clock steps back.
///
/// The counter starts at 63 random bits in each new millisecond and grows by random steps, so that
/// a neighbour's id cannot be guessed. A counter that runs over borrows the next millisecond.
///
/// Shape:   48-bit ms | version 7 | 10-bit slot, 2 high counter bits | variant | 62 low bits.
///          Ids lead the latest clock reading by at most `lead_max`, whatever the clock does.
/// Threads: one at a time; every core has its own.
/// Cost:    one clock reading, 8 random bytes; no allocation; 16 KiB of state.
/// Source:  RFC 9562 section 6.2; foundation facts F89, F90.
class UuidV7Generator {
public:
    UuidV7Generator(const Clock& clock, Random& random) : clock_(clock), random_(random) {}
    /// Expects: slot.value < slots_total.
    [[nodiscard]] Uuid next(Slot slot);

    /// How many bits a step within one millisecond has; at least 2^(63 - step_bits) ids fit into
    /// it.
    static constexpr int step_bits = 44;
    /// Only billions of ids of one slot under a clock that stands come near to it.
    static constexpr std::chrono::milliseconds lead_max{10'000};

private:
    struct Last {
        std::int64_t milliseconds = 0;
        std::uint64_t counter = 0;
    };
    [[nodiscard]] std::uint64_t seed_counter();

    const Clock& clock_;
    Random& random_;
    std::int64_t latest_reading_ = 0;  ///< milliseconds, never goes back
    std::array<Last, slots_total> last_{};
};

}  // namespace tenon::base

template <>
struct std::hash<tenon::base::Uuid> {
    std::size_t operator()(const tenon::base::Uuid& id) const noexcept;
};
