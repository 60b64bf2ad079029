#include "base/snowflake.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.hpp"
#include "base/errors.hpp"

namespace tenon::base {
namespace {

constexpr int node_bits = 10;
constexpr int sequence_bits = 12;
constexpr std::chrono::milliseconds millisecond{1};

static_assert(snowflake_nodes == 1u << node_bits);
static_assert(snowflakes_per_millisecond == 1u << sequence_bits);

std::int64_t milliseconds_of(Time time) {
    return std::chrono::floor<std::chrono::milliseconds>(time - snowflake_epoch).count();
}

bool in_range(Time time) {
    const std::int64_t milliseconds = milliseconds_of(time);
    return milliseconds >= 0 && milliseconds < snowflake_milliseconds;
}

Error clock_behind(std::chrono::microseconds step) {
    const auto wait = std::chrono::ceil<std::chrono::seconds>(step);
    Error error(errors::clock_unusable,
                fmt::format("The clock is {} ms behind the last id or the start of the lease; set "
                            "it right, or wait until it has caught up.",
                            std::chrono::ceil<std::chrono::milliseconds>(step).count()));
    error.repeat_after(wait);
    return error;
}

}  // namespace

Snowflake make_snowflake(const SnowflakeParts& parts) {
    TENON_ASSERT(in_range(parts.time));
    TENON_ASSERT(parts.node < snowflake_nodes && parts.sequence < snowflakes_per_millisecond);
    return {(milliseconds_of(parts.time) << (node_bits + sequence_bits)) |
            (std::int64_t{parts.node} << sequence_bits) | parts.sequence};
}

std::optional<SnowflakeParts> read_snowflake(Snowflake id) {
    if (id.value < 0) return std::nullopt;
    const std::chrono::milliseconds since(id.value >> (node_bits + sequence_bits));
    const auto node = (id.value >> sequence_bits) % snowflake_nodes;
    const auto sequence = id.value % snowflakes_per_millisecond;
    return SnowflakeParts{.time = snowflake_epoch + since,
                          .node = static_cast<std::uint16_t>(node),
                          .sequence = static_cast<std::uint16_t>(sequence)};
}

Result<> SnowflakeGenerator::hold(const NodeLease& lease) {
    TENON_ASSERT(lease.node < snowflake_nodes);
    const std::uint64_t lowest = fences_[lease.node];
    if (lease.fence < lowest) {
        return fail(
            errors::no_lease,
            fmt::format("Grant {} of node number {} is over, the next would be {} or later; "
                        "drop it.",
                        lease.fence, lease.node, lowest));
    }
    if (lease_ && lease_->node == lease.node && lease_->fence == lease.fence) {
        // Both were granted, in whichever order they arrive.
        lease_->until = std::max(lease_->until, lease.until);
        return {};
    }
    release();
    fences_[lease.node] = lease.fence;
    lease_ = lease;
    return {};
}

void SnowflakeGenerator::release() {
    if (!lease_) return;
    // An extension that was under way must not bring back what another may hold by then.
    fences_[lease_->node] = lease_->fence + 1;
    lease_.reset();
}

Time SnowflakeGenerator::earliest() const {
    const Time start = std::chrono::ceil<std::chrono::milliseconds>(lease_->from);
    if (!last_) return start;
    // Under another number the rest of this millisecond's ids might sort before those that were
    // made; the next millisecond's do not.
    const bool over =
        last_->sequence + 1u == snowflakes_per_millisecond || last_->node != lease_->node;
    return std::max(start, over ? last_->time + millisecond : last_->time);
}

Result<std::variant<Snowflake, SnowflakeWait>> SnowflakeGenerator::next() {
    if (!lease_) return fail(errors::no_lease, "No node number is leased; lease one first.");
    const Time now = clock_.now();
    if (!in_range(now)) {
        return fail(errors::clock_unusable,
                    "The clock is outside the years that ids can carry; set it right.");
    }
    if (now >= lease_->until) {
        return fail(errors::no_lease, "The lease on the node number has ended; renew it first.");
    }
    const Time floor = std::max(reading_, lease_->from);
    if (floor > now && floor - now >= step_max) return fail(clock_behind(floor - now));
    if (const Time begin = earliest(); now < begin) return SnowflakeWait(begin - now);

    SnowflakeParts parts{.time = std::chrono::floor<std::chrono::milliseconds>(now),
                         .node = lease_->node};
    if (last_ && parts.time == last_->time) {
        parts.sequence = static_cast<std::uint16_t>(last_->sequence + 1);
    }
    last_ = parts;
    reading_ = std::max(reading_, now);
    return make_snowflake(parts);
}

}  // namespace tenon::base
