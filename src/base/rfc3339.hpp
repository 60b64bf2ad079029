// Points in time as texts, the one form that the API speaks.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"

namespace tenon::base {

/// The first and the last moment that have a text: years 0001 to 9999.
inline constexpr Time time_min{
    std::chrono::sys_days{std::chrono::year{1} / std::chrono::January / 1}};
inline constexpr Time time_max{
    std::chrono::sys_days{std::chrono::year{10'000} / std::chrono::January / 1} -
    std::chrono::microseconds{1}};

/// The time in UTC, such as 2026-11-30T15:44:26.123456Z.
///
/// Shape:   a fraction of 3 digits when it is whole milliseconds, else of 6; none when it is zero.
/// Expects: time_min <= time <= time_max.
/// Source:  RFC 3339 section 5.6.
[[nodiscard]] std::string format_time(Time time);
/// Appends what format_time gives, without an allocation of its own.
void append_time(std::string& out, Time time);

/// The moment that a text names, or nullopt when it is no RFC 3339 date-time.
///
/// Shape:  date, T, time, 1 to 9 digits of fraction or none, then Z or an offset of at most 23:59,
///         which is converted to UTC; T and Z in either case. Digits below the microsecond are cut
///         off. Refused: leap seconds, 24:00:00, days that no calendar has, a space instead of T,
///         and what lies outside time_min .. time_max.
/// Source: RFC 3339 section 5.6.
[[nodiscard]] std::optional<Time> parse_time(std::string_view text);

}  // namespace tenon::base
