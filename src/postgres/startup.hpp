// What a connection tells the server, and libpq, when it begins.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <map>
#include <string>
#include <string_view>

namespace tenon::postgres {

/// The limits that a session sets for its statements; zero means none.
struct SessionLimits {
    std::chrono::milliseconds statement{0};
    std::chrono::milliseconds lock{0};
    std::chrono::milliseconds idle_in_transaction{0};
};

/// Keywords of libpq with their values.
///
/// Owns: a password, perhaps; never log it.
class Startup {
public:
    /// Reads a conninfo and adds this product's settings: UTF8, UTC, limits, keepalives and a
    /// tcp_user_timeout of 5 s, so that a server that is cut off is noticed. Options of the
    /// conninfo win, but for the limits.
    ///
    /// Errors: std::invalid_argument with libpq's sentence when it is not a conninfo.
    Startup(const std::string& conninfo, const SessionLimits& limits);

    /// The same for a session with other limits.
    [[nodiscard]] Startup with(const SessionLimits& limits) const;
    [[nodiscard]] const std::map<std::string, std::string>& settings() const { return settings_; }
    /// Where it goes, without secrets: "host:port/database as user".
    [[nodiscard]] std::string target() const;

    /// The same with addresses for host names, since libpq would block in its own look-up; Unix
    /// sockets, addresses and an explicit hostaddr stay as they are.
    ///
    /// Errors: boost::system::system_error when a name is not known.
    boost::asio::awaitable<Startup> resolved(boost::asio::io_context& io) const;

private:
    void set_default(const char* keyword, std::string_view value);
    void set_limits(const SessionLimits& limits);

    std::map<std::string, std::string> settings_;
    std::string options_;  ///< of the conninfo
};

}  // namespace tenon::postgres
