#include "services/links/store.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <tuple>

#include "base/assert.hpp"
#include "runtime/failure.hpp"

namespace tenon::links {
namespace {

using boost::asio::awaitable;
using postgres::Parameters;
using postgres::Query;
using postgres::Statement;

// Index: code_counters_pkey. Counters belong to buckets, not to a project.
constexpr Statement lease_codes{R"sql(
INSERT INTO links.code_counters AS counter (bucket, next_k)
SELECT bucket, count
FROM unnest($1::integer[], $2::bigint[]) AS wish(bucket, count)
ORDER BY bucket
ON CONFLICT (bucket) DO UPDATE SET next_k = counter.next_k + excluded.next_k
RETURNING bucket, next_k
)sql"};

// Index: claims_pkey.
constexpr Statement begin_claim{R"sql(
INSERT INTO tenon.claims (bucket, project, caller, key, fingerprint, state, outcome, answer)
VALUES ($1, $2, $3, $4, $5, 0, '', '')
ON CONFLICT DO NOTHING
)sql"};

// Index: claims_pkey. The first answer stays.
constexpr Statement finish_claim{R"sql(
UPDATE tenon.claims
SET answer = $5
WHERE bucket = $1 AND project = $2 AND caller = $3 AND key = $4 AND answer = ''
)sql"};

// Index: links_pkey.
constexpr Statement look_up_rows{R"sql(
-- redirect: no project
SELECT wanted.ord, domain, code, project, url, status, forward_query, title, expires_at,
       created_at, updated_at
FROM unnest($1::integer[], $2::uuid[], $3::text[]) WITH ORDINALITY
     AS wanted(bucket, domain, code, ord)
JOIN links.links USING (bucket, domain, code)
)sql"};

// Index: links_pkey.
constexpr Statement find_row{R"sql(
SELECT domain, code, project, url, status, forward_query, title, expires_at, created_at,
       updated_at
FROM links.links
WHERE bucket = $1 AND domain = $2 AND code = $3 AND project = $4
)sql"};

// Index: links_pkey.
constexpr Statement lock_row{R"sql(
SELECT domain, code, project, url, status, forward_query, title, expires_at, created_at,
       updated_at
FROM links.links
WHERE bucket = $1 AND domain = $2 AND code = $3 AND project = $4
FOR UPDATE
)sql"};

// Index: links_pkey.
constexpr Statement update_row{R"sql(
UPDATE links.links
SET url = $5, status = $6, forward_query = $7, title = $8, expires_at = $9, updated_at = $10
WHERE bucket = $1 AND domain = $2 AND code = $3 AND project = $4
)sql"};

// Index: links_pkey.
constexpr Statement delete_row{R"sql(
DELETE FROM links.links
WHERE bucket = $1 AND domain = $2 AND code = $3 AND project = $4
)sql"};

// Index: links_by_project.
constexpr Statement list_first{R"sql(
SELECT domain, code, project, url, status, forward_query, title, expires_at, created_at,
       updated_at
FROM links.links
WHERE project = $1 AND ($2::uuid IS NULL OR domain = $2)
  AND CASE WHEN bucket < 8 * length($4::bytea) THEN get_bit($4, bucket) = 1 END
ORDER BY created_at DESC, code DESC, domain DESC
LIMIT $3
)sql"};

// Index: links_by_project.
constexpr Statement list_next{R"sql(
SELECT domain, code, project, url, status, forward_query, title, expires_at, created_at,
       updated_at
FROM links.links
WHERE project = $1 AND ($2::uuid IS NULL OR domain = $2)
  AND CASE WHEN bucket < 8 * length($4::bytea) THEN get_bit($4, bucket) = 1 END
  AND (created_at, code, domain) < ($5, $6, $7)
ORDER BY created_at DESC, code DESC, domain DESC
LIMIT $3
)sql"};

constexpr Statement make_bijection_key{R"sql(
INSERT INTO links.bijection (key) VALUES ($1) ON CONFLICT DO NOTHING
)sql"};

constexpr Statement read_bijection_key{"SELECT key FROM links.bijection"};

Parameters key_parameters(const Key& key, base::Uuid project) {
    return Parameters::of(key.bucket, key.domain, key.code, project);
}

std::optional<Row> first_row(const postgres::Rows& rows) {
    if (rows.empty()) return std::nullopt;
    return rows.as<Row>(0);
}

}  // namespace

awaitable<std::vector<Lease>> Store::lease(runtime::Call& call, std::vector<Lease> wishes) {
    std::vector<base::Bucket> buckets;
    std::vector<std::int64_t> counts;
    std::map<base::Bucket, std::int64_t> wished;
    for (const auto& wish : wishes) {
        buckets.push_back(wish.bucket);
        counts.push_back(wish.count);
        wished.emplace(wish.bucket, wish.count);
    }
    std::vector<Query> queries;
    queries.push_back({lease_codes, Parameters::of(buckets, counts)});
    const auto results = co_await database_.write(call, buckets, std::move(queries));
    const auto& rows = results.front();
    std::vector<Lease> leases;
    for (std::size_t row = 0; row < rows.size(); ++row) {
        const base::Bucket bucket{rows.value<std::int32_t>(row, 0)};
        const auto count = wished.at(bucket);
        leases.push_back({bucket, rows.value<std::int64_t>(row, 1) - count, count});
    }
    co_return leases;
}

awaitable<std::optional<storage::StoredClaim>> Store::begin_array(runtime::Call& call,
                                                                  storage::ClaimKey name,
                                                                  base::Digest fingerprint) {
    const std::array buckets{name.bucket};
    std::vector<Query> queries;
    queries.push_back({begin_claim, Parameters::of(name.bucket, name.project, name.caller, name.key,
                                                   fingerprint)});
    const auto results = co_await database_.write(call, buckets, std::move(queries));
    if (results.front().affected() > 0) co_return std::nullopt;
    auto stored = co_await storage::find_claim(call, database_, std::move(name));
    // Swept between the two statements: a day old, and so no repeat that anybody waits for.
    if (!stored) throw runtime::Unavailable("links: a claim was swept", std::chrono::seconds(1));
    co_return stored;
}

awaitable<void> Store::finish_array(runtime::Call& call, storage::ClaimKey name,
                                    std::string answer) {
    const std::array buckets{name.bucket};
    std::vector<Query> queries;
    queries.push_back(
        {finish_claim, Parameters::of(name.bucket, name.project, name.caller, name.key, answer)});
    co_await database_.write(call, buckets, std::move(queries));
}

awaitable<std::vector<std::optional<Row>>> Store::look_up(runtime::Call& call,
                                                          std::span<const Key> keys) {
    std::vector<base::Bucket> buckets;
    std::vector<base::Uuid> domains;
    std::vector<std::string_view> codes;
    for (const auto& key : keys) {
        buckets.push_back(key.bucket);
        domains.push_back(key.domain);
        codes.emplace_back(key.code);
    }
    Query query{look_up_rows, Parameters::of(buckets, domains, codes)};
    const auto rows =
        co_await database_.read(call, buckets, storage::Policy::primary, std::move(query));
    std::vector<std::optional<Row>> found(keys.size());
    for (std::size_t row = 0; row < rows.size(); ++row) {
        const auto ord = static_cast<std::size_t>(rows.value<std::int64_t>(row, 0));
        found.at(ord - 1) = rows.as<Row>(row);
    }
    co_return found;
}

awaitable<std::optional<Row>> Store::find(runtime::Call& call, const Key& key, base::Uuid project) {
    Query query{find_row, key_parameters(key, project)};
    const auto rows =
        co_await database_.read(call, key.bucket, storage::Policy::primary, std::move(query));
    co_return first_row(rows);
}

awaitable<std::optional<Row>> Store::lock(runtime::Call& call, postgres::Transaction& transaction,
                                          const Key& key, base::Uuid project) {
    Query query{lock_row, key_parameters(key, project)};
    const auto rows = co_await transaction.query(call, std::move(query));
    co_return first_row(rows);
}

awaitable<void> Store::update(runtime::Call& call, postgres::Transaction& transaction,
                              base::Bucket bucket, const Row& row) {
    Query query{update_row,
                Parameters::of(bucket, row.domain, row.code, row.project, row.url, row.status,
                               row.forward_query, row.title, row.expires_at, row.updated_at)};
    co_await transaction.query(call, std::move(query));
}

awaitable<bool> Store::remove(runtime::Call& call, const Key& key, base::Uuid project) {
    const std::array buckets{key.bucket};
    std::vector<Query> queries;
    queries.push_back({delete_row, key_parameters(key, project)});
    const auto results = co_await database_.write(call, buckets, std::move(queries));
    co_return results.front().affected() > 0;
}

awaitable<storage::Page<Row>> Store::list(runtime::Call& call, const ListQuery& query) {
    const auto ask = [&query](const storage::Owned& owned, std::int32_t rows_max) {
        auto parameters =
            Parameters::of(query.project, query.domain, std::int64_t{rows_max}, owned.bits);
        if (query.after) {
            parameters.add(query.after->created_at);
            parameters.add(query.after->code);
            parameters.add(query.after->domain);
        }
        return Query{query.after ? list_next : list_first, std::move(parameters)};
    };
    const auto before = [](const Row& left, const Row& right) {
        return std::tie(left.created_at, left.code, left.domain) >
               std::tie(right.created_at, right.code, right.domain);
    };
    co_return co_await database_.merge(
        call, storage::Policy::primary,
        storage::MergeOrder<Row>{.limit = query.limit, .ask = ask, .before = before});
}

awaitable<std::array<std::uint8_t, 16>> load_bijection_key(runtime::Call& call,
                                                           storage::Database& database,
                                                           base::Random& random) {
    auto kept = co_await database.read_reference(call, {read_bijection_key, {}});
    if (kept.empty()) {
        std::array<std::uint8_t, 16> drawn{};
        random.fill(drawn);
        std::vector<Query> queries;
        queries.push_back(
            {make_bijection_key, Parameters::of(std::span<const std::uint8_t>(drawn))});
        queries.push_back({read_bijection_key, {}});
        auto results = co_await database.write_reference(call, std::move(queries));
        kept = std::move(results.back());
    }
    const auto bytes = kept.value<std::vector<std::uint8_t>>(0, 0);
    std::array<std::uint8_t, 16> key{};
    TENON_ASSERT(bytes.size() == key.size());
    std::ranges::copy(bytes, key.begin());
    co_return key;
}

const char* list_sql(bool goes_on) {
    return goes_on ? list_next.sql : list_first.sql;
}

}  // namespace tenon::links
