#include "access/store.hpp"

#include <algorithm>
#include <map>

namespace tenon::access {
namespace {

using boost::asio::awaitable;
using postgres::Parameters;
using postgres::Query;
using postgres::Statement;

// Index: projects_name_key.
constexpr Statement find_project_by_name{R"sql(
SELECT id, name, space, created_at
FROM access.projects
WHERE name = $1
)sql"};

// Index: projects_name_key.
constexpr Statement insert_project{R"sql(
INSERT INTO access.projects (id, name, space, created_at)
VALUES ($1, $2, $3, $4)
ON CONFLICT (name) DO NOTHING
)sql"};

// Index: projects_pkey.
constexpr Statement insert_api_key{R"sql(
INSERT INTO access.api_keys (id, project, name, digest, scopes, created_at, expires_at)
SELECT $1, id, $3, $4, $5, $6, $7
FROM access.projects
WHERE id = $2
)sql"};

// Index: api_keys_digest_key.
constexpr Statement find_by_digest{R"sql(
SELECT digest, id, project, name, scopes, created_at, expires_at, revoked_at, last_used_at
FROM access.api_keys
WHERE digest = ANY ($1)
)sql"};

// Index: api_keys_pkey.
constexpr Statement find_by_id{R"sql(
SELECT id, project, name, scopes, created_at, expires_at, revoked_at, last_used_at
FROM access.api_keys
WHERE id = $1
)sql"};

// Index: api_keys_by_project. Keys of a project are made by hand; a thousand are more than any has.
constexpr Statement list_by_project{R"sql(
SELECT id, project, name, scopes, created_at, expires_at, revoked_at, last_used_at
FROM access.api_keys
WHERE project = $1
ORDER BY created_at, id
LIMIT 1000
)sql"};

// Index: api_keys_pkey. $1 old, $2 new, $3 its digest, $4 now, $5 the end of the old one.
constexpr Statement rotate_by_id{R"sql(
WITH old AS (
    UPDATE access.api_keys
    SET expires_at = LEAST(expires_at, $5)
    WHERE id = $1
      AND revoked_at IS NULL
      AND (expires_at IS NULL OR expires_at > $4)
    RETURNING project, name, scopes, digest
), made AS (
    INSERT INTO access.api_keys (id, project, name, digest, scopes, created_at)
    SELECT $2, project, name, $3, scopes, $4
    FROM old
    RETURNING id, project, name, scopes, created_at, expires_at, revoked_at, last_used_at
)
SELECT old.digest, made.*
FROM old, made
)sql"};

// Index: api_keys_pkey. The first revocation stays.
constexpr Statement revoke_by_id{R"sql(
UPDATE access.api_keys
SET revoked_at = COALESCE(revoked_at, $2)
WHERE id = $1
RETURNING digest, id, project, name, scopes, created_at, expires_at, revoked_at, last_used_at
)sql"};

// Index: api_keys_pkey. Every core and process notes for itself; the row changes once a minute.
constexpr Statement note_key_uses{R"sql(
WITH due AS (
    SELECT key.id, noted.used_at
    FROM access.api_keys AS key
    JOIN unnest($1::uuid[], $2::timestamptz[]) AS noted(id, used_at) ON noted.id = key.id
    WHERE key.last_used_at IS NULL OR key.last_used_at <= noted.used_at - interval '1 minute'
    ORDER BY key.id
    FOR UPDATE OF key
)
UPDATE access.api_keys AS key
SET last_used_at = due.used_at
FROM due
WHERE key.id = due.id
)sql"};

constexpr Statement list_all_domains{R"sql(
SELECT id, host, space, project, created_at
FROM access.domains
ORDER BY host
)sql"};

// Indexes: domains_host, domains_shared.
constexpr Statement insert_one_domain{R"sql(
INSERT INTO access.domains (id, host, space, project, created_at)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT DO NOTHING
)sql"};

awaitable<postgres::Rows> change(storage::Database& database, runtime::Call& call, Query query) {
    std::vector<Query> queries;
    queries.push_back(std::move(query));
    auto results = co_await database.write_reference(call, std::move(queries));
    co_return std::move(results.front());
}

std::optional<Key> first_key(const postgres::Rows& rows) {
    if (rows.empty()) return std::nullopt;
    return rows.as<Key>(0);
}

}  // namespace

awaitable<std::optional<Project>> Store::find_project(runtime::Call& call, std::string name) {
    Query query{find_project_by_name, Parameters::of(name)};
    const auto rows = co_await database_.read_reference(call, std::move(query));
    if (rows.empty()) co_return std::nullopt;
    co_return rows.as<Project>(0);
}

awaitable<Project> Store::ensure_project(runtime::Call& call, Project wanted) {
    std::vector<Query> queries;
    queries.push_back(
        {insert_project, Parameters::of(wanted.id, wanted.name, wanted.space, wanted.created_at)});
    queries.push_back({find_project_by_name, Parameters::of(wanted.name)});
    const auto results = co_await database_.write_reference(call, std::move(queries));
    co_return results.back().as<Project>(0);
}

awaitable<bool> Store::insert_key(runtime::Call& call, Key key, base::Digest digest) {
    Query query{insert_api_key, Parameters::of(key.id, key.project, key.name, digest, key.scopes,
                                               key.created_at, key.expires_at)};
    const auto rows = co_await change(database_, call, std::move(query));
    co_return rows.affected() > 0;
}

awaitable<std::vector<std::optional<Key>>> Store::find_keys(runtime::Call& call,
                                                            std::span<const base::Digest> digests) {
    const std::vector<base::Digest> wanted(digests.begin(), digests.end());
    Query query{find_by_digest, Parameters::of(wanted)};
    const auto rows = co_await database_.read_reference(call, std::move(query));
    std::map<base::Digest, Key> found;
    for (std::size_t row = 0; row < rows.size(); ++row) {
        found.emplace(rows.value<base::Digest>(row, 0), rows.as<Key>(row));
    }
    std::vector<std::optional<Key>> keys;
    for (const auto& digest : wanted) {
        const auto key = found.find(digest);
        keys.push_back(key == found.end() ? std::nullopt : std::optional(key->second));
    }
    co_return keys;
}

awaitable<std::optional<Key>> Store::find_key(runtime::Call& call, base::Uuid id) {
    Query query{find_by_id, Parameters::of(id)};
    co_return first_key(co_await database_.read_reference(call, std::move(query)));
}

awaitable<std::vector<Key>> Store::list_keys(runtime::Call& call, base::Uuid project) {
    Query query{list_by_project, Parameters::of(project)};
    const auto rows = co_await database_.read_reference(call, std::move(query));
    co_return rows.all<Key>();
}

awaitable<std::optional<Rotated>> Store::rotate_key(runtime::Call& call, Rotation rotation) {
    Query query{rotate_by_id, Parameters::of(rotation.old_id, rotation.new_id, rotation.new_digest,
                                             rotation.now, rotation.ends_at)};
    const auto rows = co_await change(database_, call, std::move(query));
    if (rows.empty()) co_return std::nullopt;
    co_return Rotated{.made = rows.as<Key>(0), .old_digest = rows.value<base::Digest>(0, 0)};
}

awaitable<std::optional<Revoked>> Store::revoke_key(runtime::Call& call, base::Uuid id,
                                                    base::Time at) {
    Query query{revoke_by_id, Parameters::of(id, at)};
    const auto rows = co_await change(database_, call, std::move(query));
    if (rows.empty()) co_return std::nullopt;
    co_return Revoked{.key = rows.as<Key>(0), .digest = rows.value<base::Digest>(0, 0)};
}

awaitable<void> Store::note_uses(runtime::Call& call, std::span<const KeyUse> uses) {
    std::vector<base::Uuid> keys;
    std::vector<base::Time> times;
    for (const auto& use : uses) {
        keys.push_back(use.key);
        times.push_back(use.used_at);
    }
    Query query{note_key_uses, Parameters::of(keys, times)};
    co_await change(database_, call, std::move(query));
}

awaitable<std::vector<Domain>> Store::list_domains(runtime::Call& call) {
    Query query{list_all_domains, {}};
    const auto rows = co_await database_.read_reference(call, std::move(query));
    co_return rows.all<Domain>();
}

awaitable<bool> Store::insert_domain(runtime::Call& call, Domain domain) {
    Query query{insert_one_domain, Parameters::of(domain.id, domain.host, domain.space,
                                                  domain.project, domain.created_at)};
    const auto rows = co_await change(database_, call, std::move(query));
    co_return rows.affected() > 0;
}

}  // namespace tenon::access
