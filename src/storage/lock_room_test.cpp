#include "storage/lock_room.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/errors.hpp"

namespace tenon::storage {
namespace {

TEST(LockRoom, CountsConnectionsOfAllCores) {
    postgres::PoolOptions pool;
    pool.multiplexed = 2;
    pool.exclusive_max = 8;
    EXPECT_EQ(writers_of(4, pool), 40);
}

TEST(LockRoom, SaysWhichSettingIsEnough) {
    LockTable table{.locks_per_transaction = 64, .connections = 100, .prepared_transactions = 0};
    EXPECT_TRUE(check_lock_room(table, 6));
    const auto refused = check_lock_room(table, 40);
    ASSERT_FALSE(refused);
    EXPECT_TRUE(refused.error().is(errors::lock_table_small));
    EXPECT_THAT(refused.error().detail(), testing::HasSubstr("max_locks_per_transaction to 410"));
    table.locks_per_transaction = 410;
    EXPECT_TRUE(check_lock_room(table, 40));
    EXPECT_FALSE(check_lock_room(table, 41));
}

}  // namespace
}  // namespace tenon::storage
