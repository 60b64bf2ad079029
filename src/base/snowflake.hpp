// 64-bit ids in the order of time, for those who need them: time, a leased node number, a sequence.
#pragma once

#include <array>
#include <chrono>
#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <variant>

#include "base/clock.hpp"
#include "base/result.hpp"

namespace tenon::base {

/// A positive 64-bit id: 41 bits of milliseconds since 2025-01-01 UTC, 10 of node, 12 of sequence.
struct Snowflake {
    std::int64_t value = 0;
    auto operator<=>(const Snowflake&) const = default;
};

/// Millisecond 0 of every snowflake: 2025-01-01T00:00:00Z.
inline constexpr Time snowflake_epoch{
    std::chrono::sys_days{std::chrono::year{2025} / std::chrono::January / 1}};
/// How many node numbers there are.
inline constexpr std::uint32_t snowflake_nodes = 1024;
/// How many ids one node number has in a millisecond.
inline constexpr std::uint32_t snowflakes_per_millisecond = 4096;
/// How many milliseconds fit: the last one lies in September 2094.
inline constexpr std::int64_t snowflake_milliseconds = std::int64_t{1} << 41;

/// What an id is made of.
struct SnowflakeParts {
    Time time;                   ///< a whole millisecond
    std::uint16_t node = 0;      ///< 0 .. 1023
    std::uint16_t sequence = 0;  ///< 0 .. 4095
    auto operator<=>(const SnowflakeParts&) const = default;
};

/// The id of these parts; with node and sequence 0 it is the lowest of its millisecond.
///
/// Expects: every part in its range; a time beyond whole milliseconds is rounded down.
[[nodiscard]] Snowflake make_snowflake(const SnowflakeParts& parts);
/// What an id is made of; nullopt for a negative number, which is none.
[[nodiscard]] std::optional<SnowflakeParts> read_snowflake(Snowflake id);

/// The right to make ids of one node number for a stretch of time, as its lender grants it.
///
/// Shape:   the stretch is [from, until), in the time that the ids carry. Ids are unique whatever
///          the clocks do as long as the stretches of one number never overlap: a lender sets
///          `from` to where the number's last stretch ended, or later.
/// Units:   by the clock of the generator; a lender that counts in another clock's time translates.
struct NodeLease {
    std::uint16_t node = 0;   ///< 0 .. 1023
    std::uint64_t fence = 0;  ///< grows with every grant of this number; an extension keeps it
    Time from;
    Time until;
    bool operator==(const NodeLease&) const = default;
};

/// How long to wait before the next attempt; above zero.
using SnowflakeWait = std::chrono::microseconds;

/// Makes snowflakes that only ever grow, as long as it holds a live lease on a node number.
///
/// Nothing is borrowed from the future and nothing is waited for here: a millisecond whose ids are
/// used up, and a clock that stepped back by less than `step_max`, are told as the time after which
/// to ask again. A clock that stepped back further is an error, since whoever waits would wait
/// unboundedly long.
///
/// Threads: one at a time.
/// Cost:    one clock reading; no allocation but in errors; 8 KiB of state.
/// Source:  F89, F90, F91.
class SnowflakeGenerator {
public:
    /// The clock must outlive the generator.
    explicit SnowflakeGenerator(const Clock& clock) : clock_(clock) {}

    /// Takes a lease, or the extension of the one that is held.
    ///
    /// Errors: base.no_lease when this grant of the number was left or released, or a later one was
    ///         held since; what is held now is kept. Not to be repeated with the same grant.
    [[nodiscard]] Result<> hold(const NodeLease& lease);
    /// Gives up the lease before its end: next() refuses from now on.
    void release();
    /// The lease that is held, live or not; nullopt before the first and after release().
    [[nodiscard]] const std::optional<NodeLease>& lease() const { return lease_; }

    /// The next id, greater than every one before it, or how long to wait before asking again.
    ///
    /// Errors: base.no_lease without a live lease: repeat once one is held. base.clock_unusable
    ///         when the clock is `step_max` or more behind the last id or the start of the lease,
    ///         or outside 2025 .. 2094: repeat when the clock is right again.
    [[nodiscard]] Result<std::variant<Snowflake, SnowflakeWait>> next();

    /// A clock this far behind is no longer waited for.
    static constexpr std::chrono::milliseconds step_max{50};

private:
    /// The first reading at which the lease held and the last id allow another id.
    [[nodiscard]] Time earliest() const;

    const Clock& clock_;
    std::optional<NodeLease> lease_;
    std::optional<SnowflakeParts> last_;
    Time reading_{Time::min()};  ///< the highest at which an id was made
    /// Per node number the lowest grant that may still be held.
    std::array<std::uint64_t, snowflake_nodes> fences_{};
};

}  // namespace tenon::base

template <>
struct std::hash<tenon::base::Snowflake> {
    std::size_t operator()(tenon::base::Snowflake id) const noexcept {
        return std::hash<std::int64_t>{}(id.value);
    }
};
