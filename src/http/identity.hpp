// The interface by which http asks who calls; src/access implements it.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/uuid.hpp"
#include "runtime/call.hpp"

namespace tenon::http {

/// Who sent a request and what it may do.
struct Identity {
    base::Uuid project;
    base::Uuid key;                   ///< the API key's id
    std::string subject;              ///< end user; empty for API keys
    std::vector<std::string> scopes;  ///< "links:read", "links:write", "*"
    runtime::Priority highest = runtime::Priority::vital;

    [[nodiscard]] bool may(std::string_view scope) const;
};

/// Tells who holds a credential.
class Authenticator {
public:
    virtual ~Authenticator() = default;
    /// `bearer` is what followed "Bearer ", never empty.
    ///
    /// Errors: unauthenticated with the reason (unknown, revoked, expired, malformed).
    virtual boost::asio::awaitable<base::Result<Identity>> identify(runtime::Call& call,
                                                                    std::string_view bearer) = 0;
};

}  // namespace tenon::http
