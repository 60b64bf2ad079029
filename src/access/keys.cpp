#include "access/keys.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "access/errors.hpp"
#include "access/key_text.hpp"
#include "base/base62.hpp"
#include "base/rfc3339.hpp"

namespace tenon::access {

using boost::asio::awaitable;

namespace {

std::string_view as_text(const base::Digest& digest) {
    return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

std::size_t bytes_of(const Key& key) {
    std::size_t bytes = sizeof(Key) + 16 + key.name.capacity();
    for (const auto& scope : key.scopes) bytes += sizeof(std::string) + scope.capacity();
    return bytes;
}

bool is_scope(std::string_view scope) {
    if (scope == "*") return true;
    const auto colon = scope.find(':');
    if (colon == 0 || colon == std::string_view::npos || colon + 1 == scope.size()) return false;
    return std::ranges::all_of(scope, [](char c) { return (c >= 'a' && c <= 'z') || c == ':'; }) &&
           std::ranges::count(scope, ':') == 1;
}

std::unexpected<base::Error> no_such_key(base::Uuid id) {
    return base::fail(errors::no_such_key,
                      fmt::format("there is no key {}; list them with: tenon keys list",
                                  base::format_id("key", id)));
}

}  // namespace

base::Result<http::Identity> judge_key(const Key& key, base::Time now) {
    if (key.revoked_at) {
        return base::fail(errors::revoked_key,
                          fmt::format("the key '{}' was revoked at {}; use another one", key.name,
                                      base::format_time(*key.revoked_at)));
    }
    if (key.expires_at && *key.expires_at <= now) {
        return base::fail(errors::expired_key,
                          fmt::format("the key '{}' ended at {}; use the one that replaced it",
                                      key.name, base::format_time(*key.expires_at)));
    }
    return http::Identity{.project = key.project,
                          .key = key.id,
                          .subject = {},
                          .scopes = key.scopes,
                          .highest = runtime::Priority::vital};
}

base::Result<void> check_key_name(std::string_view name) {
    const bool fits = !name.empty() && name.size() <= 100 &&
                      std::ranges::all_of(name, [](char c) { return c >= ' ' && c <= '~'; });
    if (fits) return {};
    return base::fail(
        errors::invalid_name,
        "a key's name is 1 to 100 printable ASCII characters, such as 'shop backend'");
}

base::Result<void> check_scopes(const std::vector<std::string>& scopes) {
    for (const auto& scope : scopes) {
        if (is_scope(scope)) continue;
        return base::fail(errors::invalid_scope,
                          fmt::format("'{}' is not a scope: * or service:right, such as "
                                      "links:write",
                                      scope));
    }
    if (scopes.empty()) return base::fail(errors::invalid_scope, "a key needs at least one scope");
    return {};
}

Keys::Keys(runtime::Core& core, storage::Database& database, KeyCache& cache)
    : core_(core),
      store_(database),
      cache_(cache),
      look_ups_(core, {.name = "access.keys batch"},
                [this](runtime::Call& call, std::span<const base::Digest> digests) {
                    return store_.find_keys(call, digests);
                }) {}

awaitable<std::shared_ptr<const Key>> Keys::find(runtime::Call& call, const base::Digest& digest) {
    const auto now = std::chrono::steady_clock::now();
    if (const auto known = cache_.get(as_text(digest), now)) co_return known->value;
    const auto ticket = cache_.begin_load(as_text(digest), now);
    auto key = co_await look_ups_.add(call, digest);
    if (!key) {
        cache_.put_absence(ticket);
        co_return nullptr;
    }
    auto found = std::make_shared<const Key>(std::move(*key));
    cache_.put(ticket, found, bytes_of(*found));
    co_return found;
}

awaitable<base::Result<http::Identity>> Keys::identify(runtime::Call& call,
                                                       std::string_view bearer) {
    const auto digest = digest_of_key(bearer);
    std::shared_ptr<const Key> key;
    if (const auto known = cache_.get(as_text(digest), std::chrono::steady_clock::now())) {
        key = known->value;
    } else {
        // The checksum is read only on a miss, where it saves a look-up.
        if (auto checked = check_key_text(bearer); !checked) {
            co_return base::fail(std::move(checked.error()));
        }
        key = co_await find(call, digest);
    }
    if (!key) {
        co_return base::fail(errors::unknown_key,
                             "this server knows no such key; list them with: tenon keys list");
    }
    auto identity = judge_key(*key, call.now);
    if (identity) uses_.insert_or_assign(key->id, call.now);
    co_return identity;
}

awaitable<base::Result<MadeKey>> Keys::make(runtime::Call& call, base::Uuid project,
                                            std::string name, std::vector<std::string> scopes) {
    if (auto checked = check_key_name(name); !checked) {
        co_return base::fail(std::move(checked.error()));
    }
    if (auto checked = check_scopes(scopes); !checked) {
        co_return base::fail(std::move(checked.error()));
    }
    Key key{.id = base::make_uuid_v4(core_.random()),
            .project = project,
            .name = std::move(name),
            .scopes = std::move(scopes),
            .created_at = call.now,
            .expires_at = std::nullopt,
            .revoked_at = std::nullopt,
            .last_used_at = std::nullopt};
    auto text = make_key_text(core_.random());
    if (!co_await store_.insert_key(call, key, digest_of_key(text))) {
        co_return base::fail(errors::no_such_project, fmt::format("there is no project {}",
                                                                  base::format_id("prj", project)));
    }
    co_return MadeKey{.key = std::move(key), .text = std::move(text)};
}

awaitable<base::Result<MadeKey>> Keys::rotate(runtime::Call& call, base::Uuid id,
                                              std::chrono::microseconds overlap) {
    auto text = make_key_text(core_.random());
    auto rotated = co_await store_.rotate_key(call, {.old_id = id,
                                                     .new_id = base::make_uuid_v4(core_.random()),
                                                     .new_digest = digest_of_key(text),
                                                     .now = call.now,
                                                     .ends_at = call.now + overlap});
    if (rotated) {
        cache_.invalidate(as_text(rotated->old_digest));
        co_return MadeKey{.key = std::move(rotated->made), .text = std::move(text)};
    }
    if (const auto old = co_await store_.find_key(call, id)) {
        if (auto usable = judge_key(*old, call.now); !usable) {
            co_return base::fail(std::move(usable.error()));
        }
    }
    co_return no_such_key(id);
}

awaitable<base::Result<Key>> Keys::revoke(runtime::Call& call, base::Uuid id) {
    auto revoked = co_await store_.revoke_key(call, id, call.now);
    if (!revoked) co_return no_such_key(id);
    cache_.invalidate(as_text(revoked->digest));
    co_return std::move(revoked->key);
}

awaitable<std::vector<Key>> Keys::list(runtime::Call& call, base::Uuid project) {
    return store_.list_keys(call, project);
}

awaitable<void> Keys::flush_uses(runtime::Call& call) {
    std::vector<KeyUse> uses;
    uses.reserve(uses_.size());
    for (const auto& [key, used_at] : uses_) uses.push_back({.key = key, .used_at = used_at});
    if (uses.empty()) co_return;
    uses_.clear();
    co_await store_.note_uses(call, uses);
}

awaitable<void> Keys::close() {
    return look_ups_.close();
}

}  // namespace tenon::access
