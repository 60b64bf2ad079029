// A room of tests: a table of items by bucket.
#pragma once

#include <vector>

#include "storage/test_database.hpp"

namespace tenon::storage {

inline constexpr Migration shop{
    .room = "shop",
    .number = 1,
    .name = "item",
    .sql =
        "CREATE SCHEMA shop; CREATE TABLE shop.item (bucket integer, id integer, "
        "name text, PRIMARY KEY (bucket, id))"};

/// The room's own migrations and the shop's.
inline std::vector<Migration> shop_files() {
    return own_migrations_and({&shop, 1});
}

}  // namespace tenon::storage
