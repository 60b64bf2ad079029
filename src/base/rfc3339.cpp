#include "base/rfc3339.hpp"

#include <array>
#include <cstdint>
#include <ranges>
#include <span>

#include "base/assert.hpp"

namespace tenon::base {
namespace {

/// Takes a text apart from its front.
class Reader {
public:
    explicit Reader(std::string_view rest) : rest_(rest) {}

    /// The number that exactly `digits` digits stand for, or nullopt when they are not there.
    std::optional<int> number(std::size_t digits) {
        if (rest_.size() < digits) return std::nullopt;
        int value = 0;
        for (const char digit : rest_.substr(0, digits)) {
            if (digit < '0' || digit > '9') return std::nullopt;
            value = value * 10 + (digit - '0');
        }
        rest_.remove_prefix(digits);
        return value;
    }
    /// True, and one step on, when the next character is one of `wanted`.
    bool take(std::string_view wanted) {
        if (rest_.empty() || !wanted.contains(rest_.front())) return false;
        rest_.remove_prefix(1);
        return true;
    }
    [[nodiscard]] bool done() const { return rest_.empty(); }

private:
    std::string_view rest_;
};

std::optional<std::chrono::sys_days> read_date(Reader& reader) {
    const auto year = reader.number(4);
    if (!year || !reader.take("-")) return std::nullopt;
    const auto month = reader.number(2);
    if (!month || !reader.take("-")) return std::nullopt;
    const auto day = reader.number(2);
    if (!day) return std::nullopt;
    const std::chrono::year_month_day date{std::chrono::year{*year},
                                           std::chrono::month{static_cast<unsigned>(*month)},
                                           std::chrono::day{static_cast<unsigned>(*day)}};
    if (!date.ok()) return std::nullopt;
    return std::chrono::sys_days{date};
}

/// Hours and minutes, of the day as of an offset.
std::optional<std::chrono::minutes> read_hours_and_minutes(Reader& reader) {
    const auto hours = reader.number(2);
    if (!hours || *hours > 23 || !reader.take(":")) return std::nullopt;
    const auto minutes = reader.number(2);
    if (!minutes || *minutes > 59) return std::nullopt;
    return std::chrono::hours{*hours} + std::chrono::minutes{*minutes};
}

/// What follows the seconds' point: 1 to 9 digits, cut to microseconds.
std::optional<std::chrono::microseconds> read_fraction(Reader& reader) {
    int digits = 0;
    std::int64_t nanoseconds = 0;
    while (const auto digit = reader.number(1)) {
        if (++digits > 9) return std::nullopt;
        nanoseconds = nanoseconds * 10 + *digit;
    }
    if (digits == 0) return std::nullopt;
    for (; digits < 9; ++digits) nanoseconds *= 10;
    return std::chrono::microseconds{nanoseconds / 1000};
}

std::optional<std::chrono::microseconds> read_time_of_day(Reader& reader) {
    const auto minutes = read_hours_and_minutes(reader);
    if (!minutes || !reader.take(":")) return std::nullopt;
    const auto seconds = reader.number(2);
    if (!seconds || *seconds > 59) return std::nullopt;
    const std::chrono::microseconds whole = *minutes + std::chrono::seconds{*seconds};
    if (!reader.take(".")) return whole;
    const auto fraction = read_fraction(reader);
    if (!fraction) return std::nullopt;
    return whole + *fraction;
}

std::optional<std::chrono::minutes> read_offset(Reader& reader) {
    if (reader.take("Zz")) return std::chrono::minutes{0};
    const bool east = reader.take("+");
    if (!east && !reader.take("-")) return std::nullopt;
    const auto offset = read_hours_and_minutes(reader);
    if (!offset) return std::nullopt;
    return east ? *offset : -*offset;
}

/// Writes `number` as digits over `place`, zeros before it. Expects: it fits.
void write_digits(std::span<char> place, std::uint32_t number) {
    for (char& digit : std::views::reverse(place)) {
        digit = static_cast<char>('0' + number % 10);
        number /= 10;
    }
}

}  // namespace

void append_time(std::string& out, Time time) {
    TENON_ASSERT(time_min <= time && time <= time_max);
    const auto days = std::chrono::floor<std::chrono::days>(time);
    const std::chrono::year_month_day date{days};
    const std::chrono::hh_mm_ss clock{time - days};
    // Every answer carries times; digits written by hand take a tenth of a format string's time.
    std::array<char, 27> text = std::to_array("0000-00-00T00:00:00.000000");
    const auto put = [&](std::size_t place, std::size_t width, auto number) {
        write_digits(std::span(text).subspan(place, width), static_cast<std::uint32_t>(number));
    };
    put(0, 4, static_cast<int>(date.year()));
    put(5, 2, static_cast<unsigned>(date.month()));
    put(8, 2, static_cast<unsigned>(date.day()));
    put(11, 2, clock.hours().count());
    put(14, 2, clock.minutes().count());
    put(17, 2, clock.seconds().count());
    const auto fraction = clock.subseconds().count();
    if (fraction != 0) put(20, 6, fraction);
    const std::size_t size = fraction == 0 ? 19 : fraction % 1000 == 0 ? 23 : 26;
    text[size] = 'Z';
    out.append(text.data(), size + 1);
}

std::string format_time(Time time) {
    std::string text;
    append_time(text, time);
    return text;
}

std::optional<Time> parse_time(std::string_view text) {
    Reader reader(text);
    const auto date = read_date(reader);
    if (!date || !reader.take("Tt")) return std::nullopt;
    const auto time_of_day = read_time_of_day(reader);
    if (!time_of_day) return std::nullopt;
    const auto offset = read_offset(reader);
    if (!offset || !reader.done()) return std::nullopt;
    const Time time = *date + *time_of_day - *offset;
    if (time < time_min || time > time_max) return std::nullopt;
    return time;
}

}  // namespace tenon::base
