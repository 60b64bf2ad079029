#include "storage/leased_snowflakes.hpp"

#include <gtest/gtest.h>

#include "base/errors.hpp"
#include "storage/test_store.hpp"

namespace tenon::storage {
namespace {

using namespace std::chrono_literals;
using Answer = base::Result<std::variant<base::Snowflake, base::SnowflakeWait>>;

std::optional<base::Snowflake> id_of(const Answer& answer) {
    const auto* id = answer ? std::get_if<base::Snowflake>(&*answer) : nullptr;
    return id == nullptr ? std::nullopt : std::optional(*id);
}

bool is_refused(const Answer& answer) {
    return !answer && answer.error().is(base::errors::no_lease);
}

/// Processes that share numbers without a grace, and clocks that the test moves.
class LeasedIds : public testing::Test {
protected:
    struct Process {
        Process(Database& database, base::Uuid id)
            : lease(database, id, {.ttl = 30s, .renew_every = 10s, .grace = 0ms}) {}
        ProcessLease lease;
        base::ManualClock clock{base::snowflake_epoch};
        LeasedSnowflakes ids{lease, clock};
    };
    std::unique_ptr<Process> process() {
        return std::make_unique<Process>(*store_.database,
                                         base::make_uuid_v4(store_.host.core.random()));
    }
    void renew(Process& process) {
        auto call = store_.host.call();
        store_.host.run(process.lease.renew(call));
    }
    void give_back(Process& process) {
        auto call = store_.host.call();
        store_.host.run(process.lease.give_back(call));
    }
    TestStore store_{migrations()};
};

TEST_F(LeasedIds, AreRefusedWithoutALiveLease) {
    const auto one = process();
    EXPECT_TRUE(is_refused(one->ids.next()));
    renew(*one);
    one->clock.set(one->lease.current()->from + 1ms);
    const auto id = id_of(one->ids.next());
    ASSERT_TRUE(id);
    EXPECT_EQ(base::read_snowflake(*id)->node, one->lease.current()->number);
    give_back(*one);
    EXPECT_TRUE(is_refused(one->ids.next()));
}

TEST_F(LeasedIds, ARenewalGoesOnWithTheSameNumber) {
    const auto one = process();
    renew(*one);
    const auto first = *one->lease.current();
    EXPECT_LT(first.from, first.ends);
    one->clock.set(first.ends);
    EXPECT_TRUE(is_refused(one->ids.next()));
    renew(*one);
    const auto second = *one->lease.current();
    EXPECT_EQ(second.from, first.from);
    EXPECT_GT(second.ends, first.ends);
    EXPECT_TRUE(id_of(one->ids.next()));
}

TEST_F(LeasedIds, TheNextHolderBeginsWhereTheLastOneEnded) {
    const auto one = process();
    renew(*one);
    const auto before = *one->lease.current();
    // Its clock is ahead: it makes the last id that its lease allows.
    one->clock.set(before.ends - 1us);
    const auto last = id_of(one->ids.next());
    ASSERT_TRUE(last);
    give_back(*one);

    const auto two = process();
    renew(*two);
    const auto after = *two->lease.current();
    ASSERT_EQ(after.number, before.number);
    EXPECT_GE(after.from, before.ends);
    EXPECT_GT(after.token, before.token);
    two->clock.set(before.ends - 1us);
    EXPECT_FALSE(id_of(two->ids.next()));
}

}  // namespace
}  // namespace tenon::storage
