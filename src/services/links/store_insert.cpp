#include <algorithm>
#include <charconv>
#include <tuple>

#include "base/assert.hpp"
#include "services/links/store.hpp"

namespace tenon::links {
namespace {

using boost::asio::awaitable;
using postgres::Parameters;
using postgres::Query;
using postgres::Statement;

// Drafts without a claim whose codes were drawn, and so are free unless the counters were lost: no
// arbiter is asked, which saves a look-up and a log record for each. They come in the order of
// their names, and unnest in the select list takes one row after the other: unnest in FROM would
// first gather each column in a store of its own. Index: links_pkey.
constexpr Statement insert_drawn{R"sql(
INSERT INTO links.links (bucket, domain, code, project, url, status, forward_query, title,
                         expires_at, created_at, updated_at)
SELECT unnest($1::integer[]), unnest($2::uuid[]), unnest($3::text[]), unnest($4::uuid[]),
       unnest($5::text[]), unnest($6::smallint[]), unnest($7::boolean[]), unnest($8::text[]),
       unnest($9::timestamptz[]), unnest($10::timestamptz[]), unnest($10::timestamptz[])
)sql"};

// Drafts with a claim, and those without whose names may be taken: one statement, so that all
// transactions lock claims in their order and then names in theirs. A claim is tried only while its
// alias is free, so that a taken alias leaves no claim behind; an alias taken between the snapshot
// and the insert ends the transaction. Index: claims_pkey, links_pkey.
constexpr Statement insert_named{R"sql(
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
    WHERE key IS NOT NULL
      AND NOT EXISTS (SELECT FROM links.links AS link
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
    LEFT JOIN claimed USING (bucket, project, caller, key)
    WHERE draft.key IS NULL OR claimed.key IS NOT NULL
    ORDER BY bucket, domain, code
    ON CONFLICT (bucket, domain, code) DO NOTHING
    RETURNING bucket, domain, code
)
SELECT draft.ord
FROM draft
LEFT JOIN claimed USING (bucket, project, caller, key)
LEFT JOIN made USING (bucket, domain, code)
WHERE CASE
    WHEN made.code IS NOT NULL THEN draft.key IS NULL OR claimed.key IS NOT NULL
    WHEN claimed.key IS NOT NULL THEN links.refuse_taken(draft.ord)
    ELSE false
END
)sql"};

constexpr std::string_view taken_meanwhile = "TN010";
constexpr std::string_view unique_violation = "23505";

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

/// The columns of claims, beside those of their drafts; NULL for drafts without.
struct ClaimColumns {
    std::vector<std::optional<std::string_view>> callers;
    std::vector<std::optional<std::string_view>> keys;
    std::vector<std::optional<base::Digest>> fingerprints;
    std::vector<std::optional<std::string_view>> answers;

    void add(const std::optional<KeyedClaim>& claim) {
        callers.push_back(claim ? std::optional<std::string_view>(claim->caller) : std::nullopt);
        keys.push_back(claim ? std::optional<std::string_view>(claim->key) : std::nullopt);
        fingerprints.push_back(claim ? std::optional(claim->fingerprint) : std::nullopt);
        answers.push_back(claim ? std::optional<std::string_view>(claim->answer) : std::nullopt);
    }
    void add_to(Parameters& parameters) const {
        parameters.add(callers);
        parameters.add(keys);
        parameters.add(fingerprints);
        parameters.add(answers);
    }
};

/// Drafts parted by the statement that writes them, with their places in the batch.
struct Parted {
    std::vector<std::size_t> drawn;
    std::vector<std::size_t> named;
};

Parted part(std::span<const Draft> drafts, bool trusts_drawn) {
    Parted parted;
    for (std::size_t i = 0; i < drafts.size(); ++i) {
        const bool is_free = trusts_drawn && drafts[i].is_drawn && !drafts[i].claim;
        (is_free ? parted.drawn : parted.named).push_back(i);
    }
    return parted;
}

/// In this order names are locked, as `COLLATE "C"` has it.
std::tuple<base::Bucket, base::Uuid, std::string_view> sort_name(const Draft& draft) {
    return {draft.bucket, draft.row.domain, draft.row.code};
}

Query drawn_query(std::span<const Draft> drafts, std::vector<std::size_t> places) {
    std::ranges::sort(places, {}, [&](std::size_t place) { return sort_name(drafts[place]); });
    Columns columns;
    for (const auto place : places) columns.add(drafts[place]);
    return {insert_drawn, columns.parameters()};
}

Query named_query(std::span<const Draft> drafts, const std::vector<std::size_t>& places) {
    Columns columns;
    ClaimColumns claims;
    for (const auto place : places) {
        columns.add(drafts[place]);
        claims.add(drafts[place].claim);
    }
    auto parameters = columns.parameters();
    claims.add_to(parameters);
    return {insert_named, std::move(parameters)};
}

void mark_named(const std::vector<std::size_t>& places, const postgres::Rows& rows,
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
    TENON_ASSERT(ord >= 1 && ord <= parted.named.size());
    std::vector<Written> written(total, Written::undone);
    written[parted.named[ord - 1]] = Written::taken_meanwhile;
    return written;
}

std::vector<base::Bucket> buckets_of(std::span<const Draft> drafts) {
    std::vector<base::Bucket> buckets;
    buckets.reserve(drafts.size());
    for (const auto& draft : drafts) buckets.push_back(draft.bucket);
    return buckets;
}

awaitable<std::vector<Written>> insert_parted(runtime::Call& call, storage::Database& database,
                                              std::span<const Draft> drafts, const Parted& parted) {
    std::vector<Query> queries;
    if (!parted.drawn.empty()) queries.push_back(drawn_query(drafts, parted.drawn));
    if (!parted.named.empty()) queries.push_back(named_query(drafts, parted.named));
    const auto buckets = buckets_of(drafts);
    const auto results = co_await database.write(call, buckets, std::move(queries));

    std::vector<Written> written(drafts.size(), Written::not_made);
    for (const auto place : parted.drawn) written[place] = Written::made;
    if (!parted.named.empty()) mark_named(parted.named, results.back(), written);
    co_return written;
}

}  // namespace

awaitable<std::vector<Written>> Store::insert(runtime::Call& call, std::span<const Draft> drafts) {
    const auto trusting = part(drafts, true);
    bool name_taken = false;
    try {
        co_return co_await insert_parted(call, database_, drafts, trusting);
    } catch (const postgres::QueryFailed& failure) {
        if (failure.is(taken_meanwhile)) co_return mark_taken(trusting, drafts.size(), failure);
        name_taken = failure.is(unique_violation) && !trusting.drawn.empty();
        if (!name_taken) throw;
    }
    // A drawn code was there: the counters lag behind the links. Ask for every name, so that the
    // drafts that met none are made and the others are told apart.
    const auto asking = part(drafts, false);
    try {
        co_return co_await insert_parted(call, database_, drafts, asking);
    } catch (const postgres::QueryFailed& failure) {
        if (!failure.is(taken_meanwhile)) throw;
        co_return mark_taken(asking, drafts.size(), failure);
    }
}

}  // namespace tenon::links
