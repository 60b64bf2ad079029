// What tests of this room share: databases with its schema, domains, and rows to be written.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "services/links/creator.hpp"
#include "storage/test_store.hpp"

namespace tenon::links {

/// Those of this room, in order.
std::span<const storage::Migration> migrations();

/// The migrations that links stand on, in order.
inline std::vector<storage::Migration> test_migrations() {
    return storage::own_migrations_and(migrations());
}

/// Enough connections that statements of one test meet in the database.
inline postgres::PoolOptions many_connections() {
    postgres::PoolOptions options;
    options.multiplexed = 20;
    return options;
}

/// Databases with the schema of links, and a second access to them as another process has it.
class TestLinks : public storage::TestStore {
public:
    explicit TestLinks(std::size_t nodes_total = 1)
        : TestStore(test_migrations(), nodes_total, many_connections(),
                    {.conninfo = {}, .reference_tables = {"links.bijection"}}),
          elsewhere(host.core, map, many_connections()) {}
    ~TestLinks() {
        auto call = host.call(std::chrono::seconds(10));
        host.run(elsewhere.close(call));
    }

    [[nodiscard]] const DomainFacts& domain() const { return domains->all().front(); }
    /// The place of an alias on the shared domain.
    [[nodiscard]] Key key_of(const std::string& alias) const {
        return {.bucket = base::bucket_of(domain().space, base::slot_of(domain().id, alias)),
                .domain = domain().id,
                .code = alias};
    }
    [[nodiscard]] Row row(std::string code, std::string url = "https://example.org/") const {
        return {.domain = domain().id,
                .code = std::move(code),
                .project = project,
                .url = std::move(url),
                .status = 302,
                .forward_query = false,
                .title = std::nullopt,
                .expires_at = std::nullopt,
                .created_at = host.clock.now(),
                .updated_at = host.clock.now()};
    }
    /// A statement that inserts a row by hand, as another program would.
    [[nodiscard]] std::string insert_sql(const std::string& alias) const {
        return fmt::format(
            "INSERT INTO links.links (bucket, domain, code, project, url, created_at, updated_at) "
            "VALUES ({}, '{}', '{}', '{}', 'https://elsewhere.example/', '2026-01-01T00:00:00Z', "
            "'2026-01-01T00:00:00Z')",
            key_of(alias).bucket.value, base::format_uuid(domain().id), alias,
            base::format_uuid(stranger));
    }

    storage::Database elsewhere;
    base::Uuid project{{7}};
    base::Uuid stranger{{8}};  ///< another project
    std::shared_ptr<const DomainSet> domains =
        std::make_shared<const DomainSet>(std::vector{DomainFacts{.id = base::Uuid{{1}},
                                                                  .host = "go.example.com",
                                                                  .scheme = "https",
                                                                  .space = {},
                                                                  .project = std::nullopt}});
};

}  // namespace tenon::links
