// The lender's rule against processes whose clocks differ; the statement that follows it is tested
// with PostgreSQL.
#include "storage/leased_snowflakes.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <memory>
#include <set>
#include <vector>

namespace tenon::storage {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr base::Time start = base::snowflake_epoch + std::chrono::hours(24);

TEST(NodeLease, IsTheProcesssLease) {
    const Lease lease{.token = 17,
                      .number = 1023,
                      .until = {},
                      .from = start,
                      .ends = start + milliseconds(30'000)};
    EXPECT_EQ(
        node_lease(lease),
        (base::NodeLease{
            .node = 1023, .fence = 17, .from = start, .until = start + milliseconds(30'000)}));
}

/// The row of one number in the control database, and what its statements make of it.
struct Row {
    static constexpr milliseconds ttl{30};
    Lease lease{.token = 0, .number = 5, .until = {}, .from = start, .ends = start};

    [[nodiscard]] bool is_free(base::Time now) const { return lease.ends <= now; }
    void take(base::Time now) {
        ++lease.token;
        lease.from = std::max(now, lease.ends + ttl);
        lease.ends = now + ttl;
    }
    void renew(base::Time now) { lease.ends = now + ttl; }
    void give_back(base::Time now) { lease.ends = now; }
};

/// One process; its clock is ahead of the database's, or behind it.
struct Process {
    explicit Process(microseconds skew) : clock(start + skew) {}
    base::ManualClock clock;
    base::SnowflakeGenerator generator{clock};
    std::optional<Lease> lease;  ///< as it was told last

    std::optional<base::Snowflake> make() {
        if (!lease || !generator.hold(node_lease(*lease))) return std::nullopt;
        const auto made = generator.next();
        const auto* id = made ? std::get_if<base::Snowflake>(&*made) : nullptr;
        return id == nullptr ? std::nullopt : std::optional(*id);
    }
};

// What was told may be used long after it ended: nobody stops a process that stood still.
RC_GTEST_PROP(LeasedSnowflakes, HoldersOfOneNumberNeverMakeOneIdTwice, ()) {
    std::vector<std::unique_ptr<Process>> processes;
    for (int i = 0; i < 3; ++i) {
        processes.push_back(
            std::make_unique<Process>(microseconds(*rc::gen::inRange(-60'000, 60'000))));
    }
    Row row;
    base::Time now = start;
    std::optional<std::size_t> holder;
    std::set<base::Snowflake> ids;
    std::int64_t last_token = 0;
    for (int step = 0; step < 150; ++step) {
        const auto one = *rc::gen::inRange<std::size_t>(0, processes.size());
        const auto passed = microseconds(*rc::gen::inRange(0, 20'000));
        now += passed;
        for (const auto& process : processes) process->clock.advance(passed);
        const int what = *rc::gen::inRange(0, 4);
        if (what == 0 && holder == one) {
            row.give_back(std::min(now, row.lease.ends));
            holder.reset();
        } else if (what == 1 && holder == one) {
            row.renew(now);
            processes[one]->lease = row.lease;
        } else if (what == 2 && row.is_free(now)) {
            row.take(now);
            RC_ASSERT(row.lease.token > std::exchange(last_token, row.lease.token));
            processes[one]->lease = row.lease;
            holder = one;
        }
        for (const auto& process : processes) {
            if (const auto id = process->make()) RC_ASSERT(ids.insert(*id).second);
        }
    }
}

}  // namespace
}  // namespace tenon::storage
