// One blocking connection, for what runs before or beside the cores: migrations and tests.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::storage {

/// A row in text form; nullopt is NULL.
using TextRow = std::vector<std::optional<std::string>>;

/// A connection whose calls block until the server has answered. Of several hosts, and of one, only
/// a primary will do, unless the conninfo says otherwise.
///
/// Expects: never used on a core's thread. Schema changes may run for minutes, one after another,
///          before there is a core; nothing else has a reason to be here.
/// Threads: one at a time.
/// Errors:  runtime::Unavailable (cannot connect, or lost), postgres::QueryFailed.
class Session {
public:
    struct Options {
        std::string node;      ///< named in errors
        std::string conninfo;  ///< libpq keyword/value string or URI
        std::chrono::seconds connect_timeout{5};
        /// The timeline that the server must be on; hosts on another are passed over. 0: any.
        std::int32_t timeline = 0;
    };
    explicit Session(const Options& options);
    ~Session();
    Session(Session&&) noexcept;
    Session& operator=(Session&&) noexcept;

    /// Runs one statement, or several when there are no values; the rows of the last.
    std::vector<TextRow> run(const std::string& sql,
                             std::initializer_list<std::optional<std::string>> values = {});
    /// The single value of a statement that gives one row with one column that is not NULL.
    std::string value(const std::string& sql,
                      std::initializer_list<std::optional<std::string>> values = {});
    /// Sends a statement without waiting for it; finish() gives its end.
    void send(const std::string& sql);
    /// True when finish() would not wait.
    [[nodiscard]] bool has_finished();
    std::vector<TextRow> finish();
    /// Waits for `pause`; ends earlier with Unavailable when the connection is lost.
    void idle(std::chrono::milliseconds pause);
    [[nodiscard]] const std::string& node() const;
    /// The server process's id.
    [[nodiscard]] int process() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace tenon::storage
