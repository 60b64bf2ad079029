#include "services/links/store.hpp"

#include <algorithm>
#include <charconv>
#include <map>

#include "base/assert.hpp"
#include "storage/merge.hpp"

namespace tenon::links {
namespace {

using boost::asio::awaitable;
using postgres::Parameters;
using postgres::Query;
using postgres::Statement;

// Drafts without a claim. Index: links_pkey.
constexpr Statement insert_plain{R"sql(
INSERT INTO links.links (bucket, domain, code, project, url, status, forward_query, title,
                         expires_at, created_at, updated_at)
SELECT bucket, domain, code, project, url, status, forward_query, title, expires_at, created_at,
       created_at
FROM unnest($1::integer[], $2::uuid[], $3::text[], $4::uuid[], $5::text[], $6::smallint[],
            $7::boolean[], $8::text[], $9::timestamptz[], $10::timestamptz[])
     AS draft(bucket, domain, code, project, url, status, forward_query, title, expires_at,
              created_at)
ORDER BY bucket, domain, code
ON CONFLICT (bucket, domain, code) DO NOTHING
RETURNING domain, code
)sql"};

// Drafts with a claim. A claim is tried only while its alias is free, so that a taken alias leaves
// no claim behind; an alias taken between the snapshot and the insert ends the transaction.
// Index: claims_pkey, links_pkey.
constexpr Statement insert_claimed{R"sql(
WITH draft AS (
    SELECT *
    FROM unnest($1::integer[], $2::uuid[], $3::text[], $4::uuid[], $5::text[], $6::smallint[],
                $7::boolean[], $8::text[], $9::timestamptz[], $10::timestamptz[], $11::text[],
                $12::text[], $13::bytea[], $14::text[])
         WITH ORDINALITY
         AS draft(bucket, domain, code, project, url, status, forward_query, title, expires_at,
                  created_at, caller, key, fingerprint, answer, ord)
), claimed AS (
    INSERT INTO tenon.claims (bucket, project, caller, key, fingerprint, state, outcome, answer)
    SELECT bucket, project, caller, key, fingerprint, 0, '', answer
    FROM draft
    WHERE NOT EXISTS (SELECT FROM links.links AS link
                      WHERE (link.bucket, link.domain, link.code)
                            = (draft.bucket, draft.domain, draft.code))
    ORDER BY bucket, project, caller, key
    ON CONFLICT DO NOTHING
    RETURNING bucket, project, caller, key
), made AS (
    INSERT INTO links.links (bucket, domain, code, project, url, status, forward_query, title,
                             expires_at, created_at, updated_at)
    SELECT bucket, domain, code, project, url, status, forward_query, title, expires_at,
           created_at, created_at
    FROM draft
    JOIN claimed USING (bucket, project, caller, key)
    ORDER BY bucket, domain, code
    ON CONFLICT (bucket, domain, code) DO NOTHING
    RETURNING bucket, domain, code
)
SELECT draft.ord
FROM draft
JOIN claimed USING (bucket, project, caller, key)
LEFT JOIN made USING (bucket, domain, code)
WHERE made.code IS NOT NULL OR links.refuse_taken(draft.ord)
)sql"};

// Index: code_counters_pkey. Counters belong to buckets, not to a project.
constexpr Statement lease_codes{R"sql(
INSERT INTO links.code_counters AS counter (bucket, next_k)
SELECT bucket, count
FROM unnest($1::integer[], $2::bigint[]) AS wish(bucket, count)
ORDER BY bucket
ON CONFLICT (bucket) DO UPDATE SET next_k = counter.next_k + excluded.next_k
RETURNING bucket, next_k
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
ORDER BY created_at DESC, code DESC, domain DESC
LIMIT $3
)sql"};

// Index: links_by_project.
constexpr Statement list_next{R"sql(
SELECT domain, code, project, url, status, forward_query, title, expires_at, created_at,
       updated_at
FROM links.links
WHERE project = $1 AND ($2::uuid IS NULL OR domain = $2)
  AND (created_at, code, domain) < ($4, $5, $6)
ORDER BY created_at DESC, code DESC, domain DESC
LIMIT $3
)sql"};

constexpr Statement make_bijection_key{R"sql(
INSERT INTO links.bijection (key) VALUES ($1) ON CONFLICT DO NOTHING
)sql"};

constexpr Statement read_bijection_key{"SELECT key FROM links.bijection"};

constexpr std::string_view taken_meanwhile = "TN010";

/// The columns of drafts, as arrays for unnest.
struct Columns {
    std::vector<base::Bucket> buckets;
    std::vector<base::Uuid> domains;
    std::vector<std::string_view> codes;
    std::vector<base::Uuid> projects;
    std::vector<std::string_view> urls;
    std::vector<std::int16_t> statuses;
    std::vector<bool> forward_queries;
    std::vector<std::optional<std::string_view>> titles;
    std::vector<std::optional<base::Time>> expiries;
    std::vector<base::Time> creations;

    void add(const Draft& draft) {
        buckets.push_back(draft.bucket);
        domains.push_back(draft.row.domain);
        codes.emplace_back(draft.row.code);
        projects.push_back(draft.row.project);
        urls.emplace_back(draft.row.url);
        statuses.push_back(draft.row.status);
        forward_queries.push_back(draft.row.forward_query);
        titles.emplace_back(draft.row.title ? std::optional<std::string_view>(*draft.row.title)
                                            : std::nullopt);
        expiries.push_back(draft.row.expires_at);
        creations.push_back(draft.row.created_at);
    }
    [[nodiscard]] Parameters parameters() const {
        return Parameters::of(buckets, domains, codes, projects, urls, statuses, forward_queries,
                              titles, expiries, creations);
    }
};

/// The columns of claims, beside those of their drafts.
struct ClaimColumns {
    std::vector<std::string_view> callers;
    std::vector<std::string_view> keys;
    std::vector<base::Digest> fingerprints;
    std::vector<std::string_view> answers;

    void add(const KeyedClaim& claim) {
        callers.emplace_back(claim.caller);
        keys.emplace_back(claim.key);
        fingerprints.push_back(claim.fingerprint);
        answers.emplace_back(claim.answer);
    }
    void add_to(Parameters& parameters) const {
        parameters.add(callers);
        parameters.add(keys);
        parameters.add(fingerprints);
        parameters.add(answers);
    }
};

/// Drafts parted by whether they carry a claim, with their places in the batch.
struct Parted {
    std::vector<std::size_t> plain;
    std::vector<std::size_t> claimed;
};

Parted part(std::span<const Draft> drafts) {
    Parted parted;
    for (std::size_t i = 0; i < drafts.size(); ++i) {
        (drafts[i].claim ? parted.claimed : parted.plain).push_back(i);
    }
    return parted;
}

Query plain_query(std::span<const Draft> drafts, const std::vector<std::size_t>& places) {
    Columns columns;
    for (const auto place : places) columns.add(drafts[place]);
    return {insert_plain, columns.parameters()};
}

Query claimed_query(std::span<const Draft> drafts, const std::vector<std::size_t>& places) {
    Columns columns;
    ClaimColumns claims;
    for (const auto place : places) {
        columns.add(drafts[place]);
        claims.add(*drafts[place].claim);
    }
    auto parameters = columns.parameters();
    claims.add_to(parameters);
    return {insert_claimed, std::move(parameters)};
}

void mark_plain(std::span<const Draft> drafts, const std::vector<std::size_t>& places,
                const postgres::Rows& rows, std::vector<Written>& written) {
    if (rows.size() == places.size()) {
        for (const auto place : places) written[place] = Written::made;
        return;
    }
    std::map<RowName, std::size_t> by_name;
    for (const auto place : places) {
        by_name.emplace(name_of(drafts[place].row), place);
    }
    for (std::size_t row = 0; row < rows.size(); ++row) {
        const auto found =
            by_name.find({rows.value<base::Uuid>(row, 0), rows.value<std::string_view>(row, 1)});
        TENON_ASSERT(found != by_name.end());
        written[found->second] = Written::made;
    }
}

void mark_claimed(const std::vector<std::size_t>& places, const postgres::Rows& rows,
                  std::vector<Written>& written) {
    for (std::size_t row = 0; row < rows.size(); ++row) {
        const auto ord = static_cast<std::size_t>(rows.value<std::int64_t>(row, 0));
        written[places.at(ord - 1)] = Written::made;
    }
}

std::vector<Written> mark_taken(const Parted& parted, std::size_t total,
                                const postgres::QueryFailed& failure) {
    std::size_t ord = 0;
    const auto& detail = failure.report().detail;
    std::from_chars(detail.data(), detail.data() + detail.size(), ord);
    TENON_ASSERT(ord >= 1 && ord <= parted.claimed.size());
    std::vector<Written> written(total, Written::undone);
    written[parted.claimed[ord - 1]] = Written::taken_meanwhile;
    return written;
}

std::vector<base::Bucket> buckets_of(std::span<const Draft> drafts) {
    std::vector<base::Bucket> buckets;
    buckets.reserve(drafts.size());
    for (const auto& draft : drafts) buckets.push_back(draft.bucket);
    return buckets;
}

Parameters key_parameters(const Key& key, base::Uuid project) {
    return Parameters::of(key.bucket, key.domain, key.code, project);
}

std::optional<Row> first_row(const postgres::Rows& rows) {
    if (rows.empty()) return std::nullopt;
    return rows.as<Row>(0);
}

}  // namespace

awaitable<std::vector<Written>> Store::insert(runtime::Call& call, std::span<const Draft> drafts) {
    const auto parted = part(drafts);
    std::vector<Query> queries;
    if (!parted.plain.empty()) queries.push_back(plain_query(drafts, parted.plain));
    if (!parted.claimed.empty()) queries.push_back(claimed_query(drafts, parted.claimed));
    const auto buckets = buckets_of(drafts);

    std::vector<postgres::Rows> results;
    try {
        results = co_await database_.write(call, buckets, std::move(queries));
    } catch (const postgres::QueryFailed& failure) {
        if (!failure.is(taken_meanwhile)) throw;
        co_return mark_taken(parted, drafts.size(), failure);
    }
    std::vector<Written> written(drafts.size(), Written::not_made);
    if (!parted.plain.empty()) mark_plain(drafts, parted.plain, results.front(), written);
    if (!parted.claimed.empty()) mark_claimed(parted.claimed, results.back(), written);
    co_return written;
}

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

awaitable<std::vector<Row>> Store::list(runtime::Call& call, const ListQuery& query) {
    auto parameters = Parameters::of(query.project, query.domain, std::int64_t{query.limit});
    if (query.after) {
        parameters.add(query.after->created_at);
        parameters.add(query.after->code);
        parameters.add(query.after->domain);
    }
    Query statement{query.after ? list_next : list_first, std::move(parameters)};
    const auto answers =
        co_await database_.on_every_node(call, storage::Policy::primary, std::move(statement));
    std::vector<std::vector<Row>> pages;
    pages.reserve(answers.size());
    for (const auto& rows : answers) pages.push_back(rows.all<Row>());
    co_return storage::merge_pages(std::move(pages), static_cast<std::size_t>(query.limit),
                                   [](const Row& left, const Row& right) {
                                       return std::tie(left.created_at, left.code, left.domain) >
                                              std::tie(right.created_at, right.code, right.domain);
                                   });
}

awaitable<std::array<std::uint8_t, 16>> load_bijection_key(runtime::Call& call,
                                                           storage::Database& database,
                                                           base::Random& random) {
    std::array<std::uint8_t, 16> drawn{};
    random.fill(drawn);
    const std::array first_bucket{base::Bucket{0}};
    std::vector<Query> queries;
    queries.push_back({make_bijection_key, Parameters::of(std::span<const std::uint8_t>(drawn))});
    queries.push_back({read_bijection_key, {}});
    const auto results = co_await database.write(call, first_bucket, std::move(queries));
    const auto kept = results.back().value<std::vector<std::uint8_t>>(0, 0);
    std::array<std::uint8_t, 16> key{};
    TENON_ASSERT(kept.size() == key.size());
    std::ranges::copy(kept, key.begin());

    Query copy{make_bijection_key, Parameters::of(std::span<const std::uint8_t>(key))};
    co_await database.on_every_node(call, storage::Policy::primary, std::move(copy));
    co_return key;
}

const char* list_sql(bool goes_on) {
    return goes_on ? list_next.sql : list_first.sql;
}

}  // namespace tenon::links
