// Several statements in simple protocol, for migrations.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <string>

#include "postgres/startup.hpp"
#include "runtime/call.hpp"

namespace tenon::postgres {

/// Runs a script on a connection of its own and closes it.
///
/// Shape:   several statements are one transaction unless they say BEGIN themselves; a single one
///          may be what PostgreSQL refuses inside a transaction (CREATE INDEX CONCURRENTLY).
/// Cancel:  past the deadline the connection is closed; the server ends the statement when it
///          notices.
/// Errors:  QueryFailed, runtime::Unavailable, runtime::OutcomeUnknown, runtime::DeadlineExceeded.
boost::asio::awaitable<void> run_script(boost::asio::io_context& io, const Startup& startup,
                                        runtime::Deadline deadline, std::string sql);

}  // namespace tenon::postgres
