// What a connection tells the server, and libpq, when it begins.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "postgres/timeline.hpp"

namespace tenon::postgres {

/// The limits that a session sets for its statements; zero means none.
struct SessionLimits {
    std::chrono::milliseconds statement{0};
    std::chrono::milliseconds lock{0};
    std::chrono::milliseconds idle_in_transaction{0};
    /// By which an answer may be later than the server's own limit for the statement.
    std::chrono::milliseconds answer_grace{2'000};
};

/// Keywords of libpq with their values.
///
/// Owns: a password, perhaps; never log it.
class Startup {
public:
    /// Reads a conninfo and adds this product's settings: UTF8, UTC, limits, keepalives and a
    /// tcp_user_timeout of 5 s, so that a server that is cut off is noticed; of several hosts, and
    /// of one, only a primary will do. Options of the conninfo win, but for the limits.
    ///
    /// Shape:  with a `timeline`, a server that is on an older one than was met before will not do
    ///         either: it is a primary that was replaced.
    /// Errors: std::invalid_argument with libpq's sentence when it is not a conninfo.
    Startup(const std::string& conninfo, const SessionLimits& limits,
            std::shared_ptr<Timeline> timeline = nullptr);

    /// The same for a session with other limits.
    [[nodiscard]] Startup with(const SessionLimits& limits) const;
    [[nodiscard]] const std::map<std::string, std::string>& settings() const { return settings_; }
    /// How long a server may owe an answer: its statement_timeout and the grace. Zero: for ever,
    /// since nothing bounds its statements.
    [[nodiscard]] std::chrono::milliseconds patience() const { return patience_; }
    [[nodiscard]] const std::shared_ptr<Timeline>& timeline() const { return timeline_; }
    /// The same with those hosts alone that come after this one; none when it is the last.
    [[nodiscard]] std::optional<Startup> after(std::string_view host, std::string_view port) const;
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
    std::chrono::milliseconds patience_{0};
    std::shared_ptr<Timeline> timeline_;
};

}  // namespace tenon::postgres
