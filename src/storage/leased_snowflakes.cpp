#include "storage/leased_snowflakes.hpp"

#include "base/errors.hpp"

namespace tenon::storage {

base::NodeLease node_lease(const Lease& lease) {
    return {.node = static_cast<std::uint16_t>(lease.number),
            .fence = static_cast<std::uint64_t>(lease.token),
            .from = lease.from,
            .until = lease.ends};
}

base::Result<std::variant<base::Snowflake, base::SnowflakeWait>> LeasedSnowflakes::next() {
    // The generator is not told to release: the same grant may be renewed, and goes on then.
    const auto held = lease_.current();
    if (!held) {
        return base::fail(base::errors::no_lease,
                          "This process has no live lease; repeat once the control database "
                          "answers.");
    }
    if (auto refused = generator_.hold(node_lease(*held)); !refused) {
        return base::fail(std::move(refused.error()));
    }
    return generator_.next();
}

}  // namespace tenon::storage
