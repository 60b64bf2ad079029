// Log lines: one sentence with fields, as JSON or for people, on stderr.
#pragma once

#include <boost/describe/enum.hpp>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/clock.hpp"
#include "runtime/secret.hpp"

namespace tenon::runtime {

struct Call;

/// How much a line matters; the level in force hides those below it.
enum class Level : std::uint8_t { debug, info, warning, error };
BOOST_DESCRIBE_ENUM(Level, debug, info, warning, error)

/// How a line looks.
enum class LogForm : std::uint8_t {
    automatic,  ///< human in a terminal, json elsewhere
    json,       ///< one object per line: time, level, message, trace_id, client, then the fields
    human,      ///< time, level, sentence and key=value; coloured only in a terminal
};
BOOST_DESCRIBE_ENUM(LogForm, automatic, json, human)

/// A key and a value of a log line.
///
/// Owns: nothing; lives within the call of log() that it is written in.
class Field {
public:
    using Value = std::variant<bool, std::int64_t, std::uint64_t, double, std::string_view>;

    Field(std::string_view key, bool value) : key_(key), value_(value) {}
    template <std::signed_integral T>
    Field(std::string_view key, T value) : key_(key), value_(std::int64_t{value}) {}
    template <std::unsigned_integral T>
    Field(std::string_view key, T value) : key_(key), value_(std::uint64_t{value}) {}
    Field(std::string_view key, double value) : key_(key), value_(value) {}
    Field(std::string_view key, std::string_view value) : key_(key), value_(value) {}
    Field(std::string_view key, const std::string& value) : Field(key, std::string_view(value)) {}
    Field(std::string_view key, const char* value) : Field(key, std::string_view(value)) {}
    Field(std::string_view key, const Secret&) : Field(key, secret_mask) {}

    [[nodiscard]] std::string_view key() const { return key_; }
    [[nodiscard]] const Value& value() const { return value_; }

private:
    std::string_view key_;
    Value value_;
};

using Fields = std::initializer_list<Field>;

/// Writes one line, if `level` is at least the level in force.
///
/// Shape:   `message` is one sentence without values in it; values are fields. Control characters
///          are escaped, so no value can forge a line. Texts that look like secrets and texts of
///          fields whose name says so (names_secret) are masked.
/// Threads: any. Before start_logging: at once, at level info.
/// Cost:    one comparison when the level is off; else the line is built here and queued. A full
///          queue drops the oldest line and counts it (log_lines_dropped).
void log(Level level, std::string_view message, Fields fields = {});
/// The same with the call's trace id, project and client.
void log(Level level, const Call& call, std::string_view message, Fields fields = {});
/// True when a line of that level would be written; for fields that are costly to make.
[[nodiscard]] bool logs(Level level);

/// Which lines are written, how and where.
struct LogOptions {
    Level level = Level::info;          ///< lines below it are not made
    LogForm form = LogForm::automatic;  ///< see LogForm
    bool asynchronous = true;           ///< a thread writes; false: the caller does
    std::size_t queue_max = 8'192;      ///< lines that may wait; the oldest gives way, > 0
    std::FILE* stream = stderr;         ///< where lines go; not owned
    /// Of lines for people; nullopt: in a terminal, unless NO_COLOR or TERM=dumb say otherwise.
    std::optional<bool> coloured = std::nullopt;
};

/// Sets how lines are written from now on. Once, by main, before other threads log.
void start_logging(const LogOptions& options);
/// Writes what is queued and goes on without a queue. By main, when other threads have ended.
void stop_logging();
/// Lines lost to a full queue since start_logging.
[[nodiscard]] std::size_t log_lines_dropped();

/// What a line is made of.
struct LogLine {
    Level level = Level::info;
    base::Time time;
    std::string_view message;
    const Call* call = nullptr;  ///< may be null
    const Field* fields_begin = nullptr;
    const Field* fields_end = nullptr;
};

/// The line's text without a line feed; pure.
[[nodiscard]] std::string format_json_line(const LogLine& line);
/// The same for people; control characters are escaped in either.
[[nodiscard]] std::string format_human_line(const LogLine& line, bool coloured);
/// "debug", "info", "warning" or "error".
[[nodiscard]] std::string_view name_of(Level level);

}  // namespace tenon::runtime
