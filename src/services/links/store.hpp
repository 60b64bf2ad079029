// The SQL of links.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash.hpp"
#include "services/links/types.hpp"
#include "storage/claims.hpp"
#include "storage/database.hpp"

namespace tenon::links {

/// Where a link lies.
struct Key {
    base::Bucket bucket;
    base::Uuid domain;
    std::string code;
    auto operator<=>(const Key&) const = default;
};

/// What tells a link from all others; lives no longer than its row.
using RowName = std::pair<base::Uuid, std::string_view>;
/// The name of a row, by which rows of one batch are told apart.
[[nodiscard]] inline RowName name_of(const Row& row) {
    return {row.domain, row.code};
}

/// The claim that is written with a link.
struct KeyedClaim {
    std::string caller;
    std::string key;
    base::Digest fingerprint{};
    std::string answer;  ///< the Link, JSON
};

/// A link about to be written.
struct Draft {
    base::Bucket bucket;
    Row row;
    bool is_drawn = false;  ///< its code was drawn, and so is nobody's yet
    std::optional<KeyedClaim> claim;
};

/// What happened to one draft.
enum class Written {
    made,
    not_made,         ///< its claim or its (domain, code) was there before
    taken_meanwhile,  ///< another transaction took its (domain, code); nothing of the batch
                      ///< happened
    undone,           ///< nothing happened because of another draft of the batch; send it again
};

/// The start of a leased range.
struct Lease {
    base::Bucket bucket;
    std::int64_t first_k = 0;
    std::int64_t count = 0;
};

/// Where a page goes on.
struct ListPosition {
    base::Time created_at;
    std::string code;
    base::Uuid domain;
};

/// What a list is asked for.
struct ListQuery {
    base::Uuid project;
    std::optional<base::Uuid> domain;
    std::optional<ListPosition> after;
    std::int32_t limit = 0;
};

/// The statements of links against one core's database.
///
/// Threads: its core only.
/// Errors:  those of storage::Database.
class Store {
public:
    explicit Store(storage::Database& database) : database_(database) {}

    /// Writes drafts of one node with their claims, in one transaction and one round trip.
    /// Expects: no two drafts share a claim or a (bucket, domain, code).
    boost::asio::awaitable<std::vector<Written>> insert(runtime::Call& call,
                                                        std::span<const Draft> drafts);
    /// Claims an array of creates before its items; nullopt when this call is the first under the
    /// key, else the claim that was there, whose answer is empty until finish_array. An array that
    /// a crash cut off is so found begun, and its repeat makes the items that are missing.
    boost::asio::awaitable<std::optional<storage::StoredClaim>> begin_array(
        runtime::Call& call, storage::ClaimKey name, base::Digest fingerprint);
    /// Keeps the array's answer for its repeats.
    boost::asio::awaitable<void> finish_array(runtime::Call& call, storage::ClaimKey name,
                                              std::string answer);
    /// Leases `count` k for every bucket of one node. One transaction, one round trip.
    boost::asio::awaitable<std::vector<Lease>> lease(runtime::Call& call,
                                                     std::vector<Lease> wishes);
    /// Rows for redirects, by (bucket, domain, code) alone; keys of one node, none twice. One round
    /// trip; nullopt where there is none, in the order of the keys.
    boost::asio::awaitable<std::vector<std::optional<Row>>> look_up(runtime::Call& call,
                                                                    std::span<const Key> keys);
    /// One row of a project.
    boost::asio::awaitable<std::optional<Row>> find(runtime::Call& call, const Key& key,
                                                    base::Uuid project);
    /// Locks one row of a project until the transaction ends.
    boost::asio::awaitable<std::optional<Row>> lock(runtime::Call& call,
                                                    postgres::Transaction& transaction,
                                                    const Key& key, base::Uuid project);
    boost::asio::awaitable<void> update(runtime::Call& call, postgres::Transaction& transaction,
                                        base::Bucket bucket, const Row& row);
    /// True when there was one.
    boost::asio::awaitable<bool> remove(runtime::Call& call, const Key& key, base::Uuid project);
    /// A page of a project's links, newest first, merged from all nodes.
    boost::asio::awaitable<storage::Page<Row>> list(runtime::Call& call, const ListQuery& query);

    [[nodiscard]] storage::Database& database() { return database_; }

private:
    storage::Database& database_;
};

/// The bijection's key, made at the first call ever.
boost::asio::awaitable<std::array<std::uint8_t, 16>> load_bijection_key(runtime::Call& call,
                                                                        storage::Database& database,
                                                                        base::Random& random);

/// The text of the list query, for the test that explains it.
[[nodiscard]] const char* list_sql(bool goes_on);

}  // namespace tenon::links
