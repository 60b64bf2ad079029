// What a visitor of a short link gets: a redirect, 404 or 410.
#pragma once

#include <string_view>

#include "base/clock.hpp"
#include "http/message.hpp"
#include "services/links/types.hpp"

namespace tenon::links {

/// Answers GET and HEAD of a short link.
///
/// Shape:  302 (or the link's own 301, 307, 308) with Location, X-Robots-Tag and Cache-Control; 404
///         when `target` is null, 410 when it has expired; neither kept by caches. A forwarded
///         query is appended byte-exact before the fragment.
/// Cost:   no allocation beyond the response's own buffers, unless a query is forwarded.
/// Source: RFC 9110 sections 15.4 and 15.5.
void answer_visit(const Target* target, const http::Request& request, base::Time now,
                  http::Response& response);

}  // namespace tenon::links
