// On whose behalf a proxy asks.
#pragma once

#include <optional>

#include "http/address.hpp"
#include "http/message.hpp"

namespace tenon::http {

/// Who asked, as far as trusted proxies tell.
struct Origin {
    IpAddress address;
    std::optional<bool> secure;  ///< whether they came by https; nullopt: nobody said
};

/// Finds the client behind a trusted peer: the right-most hop that is not trusted itself.
///
/// Shape:   hops are read from the right, where the nearest proxy wrote, and what lies left of the
///          first hop that is not trusted is not looked at: clients write there what they like. A
///          hop that is no address ends the search, and the proxy that told of it is the answer;
///          so does the end of the list. X-Forwarded-For counts, and Forwarded only where there is
///          none, because most proxies write the first and pass on the second as it came. Several
///          header lines are one list. The scheme is that of the client's hop in Forwarded, or in
///          X-Forwarded-Proto the entry of the proxy that the client reached, which is the only one
///          where proxies do not append.
/// Expects: `peer`, who sent the request, is one of `trusted`.
/// Cost:    O(bytes of those headers), no allocation.
/// Source:  RFC 7239 for Forwarded; X-Forwarded-* as nginx, HAProxy and Envoy write them.
[[nodiscard]] Origin find_origin(const Request& request, const IpAddress& peer,
                                 const Networks& trusted);

}  // namespace tenon::http
