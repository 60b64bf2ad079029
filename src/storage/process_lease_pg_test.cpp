#include "storage/process_lease.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <set>

#include "storage/test_store.hpp"

namespace tenon::storage {
namespace {

using namespace std::chrono_literals;

class Leased : public testing::Test {
protected:
    void renew(ProcessLease& lease) {
        auto call = store_.host.call();
        store_.host.run(lease.renew(call));
    }
    ProcessLease process(LeaseOptions options = {}) {
        return {*store_.database, base::make_uuid_v4(store_.host.core.random()), options};
    }
    bool dead(std::int64_t token) {
        auto call = store_.host.call();
        return store_.host.run(is_dead(call, *store_.database, token));
    }
    void age_all_leases() {
        store_.script(
            "UPDATE tenon.processes SET lease_until = clock_timestamp() - "
            "interval '1 hour'");
    }
    TestStore store_{migrations()};
};

TEST_F(Leased, LivingProcessesHaveNumbersOfTheirOwn) {
    std::set<std::int32_t> numbers;
    std::int64_t last_token = 0;
    for (int i = 0; i < 20; ++i) {
        auto lease = process();
        EXPECT_FALSE(lease.current());
        renew(lease);
        ASSERT_TRUE(lease.current());
        numbers.insert(lease.current()->number);
        EXPECT_GT(lease.current()->token, last_token);
        last_token = lease.current()->token;
    }
    EXPECT_EQ(numbers.size(), 20U);
}

TEST_F(Leased, ARenewalKeepsTokenAndNumber) {
    auto lease = process();
    renew(lease);
    const auto first = *lease.current();
    renew(lease);
    EXPECT_EQ(lease.current()->token, first.token);
    EXPECT_EQ(lease.current()->number, first.number);
    EXPECT_GE(lease.current()->until, first.until);
}

TEST_F(Leased, AnEndedLeaseIsDeadAndItsNumberWaitsForTheGrace) {
    auto one = process({.ttl = 30s, .renew_every = 10s, .grace = 10min});
    renew(one);
    const auto ended = *one.current();
    EXPECT_FALSE(dead(ended.token));
    auto call = store_.host.call();
    store_.host.run(one.give_back(call));
    EXPECT_FALSE(one.current());
    EXPECT_TRUE(dead(ended.token));

    auto two = process({.ttl = 30s, .renew_every = 10s, .grace = 10min});
    renew(two);
    EXPECT_NE(two.current()->number, ended.number);
    age_all_leases();
    auto three = process({.ttl = 30s, .renew_every = 10s, .grace = 10min});
    renew(three);
    EXPECT_EQ(three.current()->number, ended.number);
    EXPECT_GT(three.current()->token, two.current()->token);
}

TEST_F(Leased, WhoLostItsNumberTakesAnotherWithANewToken) {
    auto one = process();
    renew(one);
    const auto before = *one.current();
    age_all_leases();
    auto two = process();
    renew(two);
    EXPECT_EQ(two.current()->number, before.number);
    renew(one);
    EXPECT_NE(one.current()->number, before.number);
    EXPECT_GT(one.current()->token, two.current()->token);
    EXPECT_TRUE(dead(before.token));
}

}  // namespace
}  // namespace tenon::storage
