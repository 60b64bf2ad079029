// The words of access.
#pragma once

#include <boost/describe.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/hash.hpp"
#include "base/uuid.hpp"

namespace tenon::access {

/// A customer's world: everything belongs to exactly one.
struct Project {
    base::Uuid id;
    std::string name;
    std::int32_t space = 0;
    base::Time created_at;
};
BOOST_DESCRIBE_STRUCT(Project, (), (id, name, space, created_at))

/// An API key, without its text, which is known to its holder alone.
struct Key {
    base::Uuid id;
    base::Uuid project;
    std::string name;
    std::vector<std::string> scopes;
    base::Time created_at;
    std::optional<base::Time> expires_at;
    std::optional<base::Time> revoked_at;
    std::optional<base::Time> last_used_at;
};
BOOST_DESCRIBE_STRUCT(Key, (),
                      (id, project, name, scopes, created_at, expires_at, revoked_at, last_used_at))

/// A host name under which this server answers.
struct Domain {
    base::Uuid id;
    std::string host;  ///< empty: the shared domain, whatever its address is
    std::int32_t space = 0;
    std::optional<base::Uuid> project;  ///< nullopt: shared by all projects of the space
    base::Time created_at;
};
BOOST_DESCRIBE_STRUCT(Domain, (), (id, host, space, project, created_at))

/// A key that was just made: the only moment its text is known here.
struct MadeKey {
    Key key;
    std::string text;
};

}  // namespace tenon::access
