#include "storage/lock_room.hpp"

#include <fmt/format.h>

#include <string>

#include "storage/errors.hpp"

namespace tenon::storage {

LockTable read_lock_table(Session& session) {
    const auto setting = [&](const std::string& name) {
        return std::int64_t{std::stoll(session.value("SELECT current_setting($1)", {name}))};
    };
    return {.locks_per_transaction = setting("max_locks_per_transaction"),
            .connections = setting("max_connections"),
            .prepared_transactions = setting("max_prepared_transactions")};
}

base::Result<> check_lock_room(const LockTable& table, std::int64_t writers) {
    const std::int64_t needed = writers * base::slots_total;
    if (needed <= table.size()) {
        return {};
    }
    const std::int64_t transactions = table.connections + table.prepared_transactions;
    return base::fail(errors::lock_table_small,
                      fmt::format("{} writers with {} buckets each need {} locks, and the server "
                                  "has room for {}. Set max_locks_per_transaction to {} or more, "
                                  "or give the pool fewer connections.",
                                  writers, base::slots_total, needed, table.size(),
                                  (needed + transactions - 1) / transactions));
}

}  // namespace tenon::storage
