// API keys: made, rotated, revoked, and asked for at every request.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "access/store.hpp"
#include "cache/near_cache.hpp"
#include "http/identity.hpp"
#include "runtime/batcher.hpp"

namespace tenon::access {

/// Keys as the near cache holds them, for all cores: 5 s, so a key that another process revoked
/// ends within that; unknown keys 1 s.
using KeyCache = cache::NearCache<Key>;

/// Judges a key that was found.
///
/// Shape:  pure. Errors: access.revoked_key, access.expired_key.
[[nodiscard]] base::Result<http::Identity> judge_key(const Key& key, base::Time now);

/// Refuses names that a list or a log line cannot show. Errors: access.invalid_name.
[[nodiscard]] base::Result<void> check_key_name(std::string_view name);

/// Refuses scopes that no endpoint asks for: `*`, or `service:right` in lower-case letters.
[[nodiscard]] base::Result<void> check_scopes(const std::vector<std::string>& scopes);

/// The keys as one core sees them.
///
/// Shape:   a key's text is hashed and looked up by its digest; a hit in the cache asks nobody,
///          misses of one moment share a round trip.
/// Threads: its core only; `cache` is for all. close() before destruction.
class Keys final : public http::Authenticator {
public:
    Keys(runtime::Core& core, storage::Database& database, KeyCache& cache);

    /// Errors: access.malformed_key, access.unknown_key, access.revoked_key, access.expired_key.
    boost::asio::awaitable<base::Result<http::Identity>> identify(runtime::Call& call,
                                                                  std::string_view bearer) override;
    /// Errors: access.invalid_name, access.invalid_scope, access.no_such_project.
    boost::asio::awaitable<base::Result<MadeKey>> make(runtime::Call& call, base::Uuid project,
                                                       std::string name,
                                                       std::vector<std::string> scopes);
    /// A key with the same rights; the old one goes on for `overlap`, so that nobody meets a 401.
    ///
    /// Shape:  both or neither: no crash leaves two keys without an end.
    /// Errors: access.no_such_key, access.revoked_key, access.expired_key.
    boost::asio::awaitable<base::Result<MadeKey>> rotate(runtime::Call& call, base::Uuid id,
                                                         std::chrono::microseconds overlap);
    /// Ends a key: at once in this process, within the cache's ttl in others.
    ///
    /// Errors: access.no_such_key.
    boost::asio::awaitable<base::Result<Key>> revoke(runtime::Call& call, base::Uuid id);
    boost::asio::awaitable<std::vector<Key>> list(runtime::Call& call, base::Uuid project);
    /// Writes down which keys were used since the last time; every minute is enough.
    boost::asio::awaitable<void> flush_uses(runtime::Call& call);
    boost::asio::awaitable<void> close();

private:
    using LookUps = runtime::Batcher<base::Digest, std::optional<Key>>;

    boost::asio::awaitable<std::shared_ptr<const Key>> find(runtime::Call& call,
                                                            const base::Digest& digest);

    runtime::Core& core_;
    Store store_;
    KeyCache& cache_;
    LookUps look_ups_;
    std::unordered_map<base::Uuid, base::Time> uses_;
};

}  // namespace tenon::access
