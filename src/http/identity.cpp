#include "http/identity.hpp"

#include <algorithm>

namespace tenon::http {

bool Identity::may(std::string_view scope) const {
    return std::ranges::any_of(
        scopes, [scope](const std::string& held) { return held == "*" || held == scope; });
}

}  // namespace tenon::http
