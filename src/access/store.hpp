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
    boost::asio::awaitable<void> insert_key(runtime::Call& call, Key key, base::Digest digest);
    /// Keys by digest, in the order asked; nullopt where there is none. One round trip.
    boost::asio::awaitable<std::vector<std::optional<Key>>> find_keys(
        runtime::Call& call, std::span<const base::Digest> digests);
    boost::asio::awaitable<std::optional<Key>> find_key(runtime::Call& call, base::Uuid id);
    /// A project's keys, oldest first.
    boost::asio::awaitable<std::vector<Key>> list_keys(runtime::Call& call, base::Uuid project);
    /// Sets the end of a key, never later than an end it has already.
    boost::asio::awaitable<void> expire_key(runtime::Call& call, base::Uuid id, base::Time at);
    boost::asio::awaitable<void> revoke_key(runtime::Call& call, base::Uuid id, base::Time at);
    boost::asio::awaitable<void> note_uses(runtime::Call& call, std::span<const KeyUse> uses);

    boost::asio::awaitable<std::vector<Domain>> list_domains(runtime::Call& call);
    /// False when the host is there already.
    boost::asio::awaitable<bool> insert_domain(runtime::Call& call, Domain domain);

private:
    storage::Database& database_;
};

}  // namespace tenon::access
