// The SQL of access.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "access/types.hpp"
#include "storage/database.hpp"

namespace tenon::access {

/// A key's use, noted coarsely.
struct KeyUse {
    base::Uuid key;
    base::Time used_at;
};

/// Which key is to follow which.
struct Rotation {
    base::Uuid old_id;
    base::Uuid new_id;
    base::Digest new_digest{};
    base::Time now;      ///< when the new one begins
    base::Time ends_at;  ///< when the old one ends at the latest
};

/// What a rotation made, and the digest of the key that it ended.
struct Rotated {
    Key made;
    base::Digest old_digest{};
};

/// A revoked key and the digest under which it is cached.
struct Revoked {
    Key key;
    base::Digest digest{};
};

/// The statements of access against one core's database.
///
/// Threads: its core only.
/// Errors:  those of storage::Database.
class Store {
public:
    explicit Store(storage::Database& database) : database_(database) {}

    boost::asio::awaitable<std::optional<Project>> find_project(runtime::Call& call,
                                                                std::string name);
    /// The project of that name, made when there is none.
    boost::asio::awaitable<Project> ensure_project(runtime::Call& call, Project wanted);
    /// False when there is no such project.
    boost::asio::awaitable<bool> insert_key(runtime::Call& call, Key key, base::Digest digest);
    /// Keys by digest, in the order asked; nullopt where there is none. One round trip.
    boost::asio::awaitable<std::vector<std::optional<Key>>> find_keys(
        runtime::Call& call, std::span<const base::Digest> digests);
    boost::asio::awaitable<std::optional<Key>> find_key(runtime::Call& call, base::Uuid id);
    /// A project's keys, oldest first.
    boost::asio::awaitable<std::vector<Key>> list_keys(runtime::Call& call, base::Uuid project);
    /// Makes a key with another's project, name and rights, and ends that one, never later than it
    /// would have ended: both or neither. nullopt when it is unknown, revoked or over by `now`.
    boost::asio::awaitable<std::optional<Rotated>> rotate_key(runtime::Call& call,
                                                              Rotation rotation);
    /// Revokes a key, once; nullopt when there is none.
    boost::asio::awaitable<std::optional<Revoked>> revoke_key(runtime::Call& call, base::Uuid id,
                                                              base::Time at);
    /// Notes uses of keys whose last noted one is at least a minute older.
    ///
    /// Shape: rows are locked in the order of ids, whatever the order here.
    boost::asio::awaitable<void> note_uses(runtime::Call& call, std::span<const KeyUse> uses);

    boost::asio::awaitable<std::vector<Domain>> list_domains(runtime::Call& call);
    /// False when the host, or the shared domain of the space, is there already.
    boost::asio::awaitable<bool> insert_domain(runtime::Call& call, Domain domain);

private:
    storage::Database& database_;
};

}  // namespace tenon::access
