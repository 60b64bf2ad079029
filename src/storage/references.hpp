// Reference tables: written in the control database, copied to every node.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <string_view>
#include <vector>

#include "postgres/pool.hpp"
#include "runtime/call.hpp"

namespace tenon::storage {

/// The reference tables ("access.projects"), parents before those that refer to them.
using ReferenceTables = std::vector<std::string_view>;

/// Copies what changed in the control database's reference tables since the node's last copy.
///
/// Shape:   by rising version, in pages; what the node has already stays. Repeatable, also by
///          several processes at once: an older row never overwrites a newer one.
/// Expects: tables that tenon.make_reference has made.
/// Cost:    one round trip to the node and one per table to the control database when nothing
///          changed.
/// Errors:  those of both pools.
boost::asio::awaitable<void> copy_references(runtime::Call& call, const ReferenceTables& tables,
                                             postgres::Pool& control, postgres::Pool& node);

}  // namespace tenon::storage
