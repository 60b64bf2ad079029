#include "runtime/units.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <limits>
#include <span>

namespace tenon::runtime {
namespace {

struct Unit {
    std::string_view name;
    std::uint64_t size;
};

// Largest first: format takes the first that divides.
constexpr std::array durations{
    Unit{"d", 86'400'000'000'000},
    Unit{"h", 3'600'000'000'000},
    Unit{"m", 60'000'000'000},
    Unit{"s", 1'000'000'000},
    Unit{"ms", 1'000'000},
    Unit{"us", 1'000},
    Unit{"ns", 1},
};
constexpr std::array byte_counts{
    Unit{"TiB", 1ULL << 40},
    Unit{"GiB", 1ULL << 30},
    Unit{"MiB", 1ULL << 20},
    Unit{"KiB", 1ULL << 10},
    Unit{"B", 1},
};

std::optional<std::uint64_t> parse(std::string_view text, std::span<const Unit> units,
                                   std::uint64_t largest) {
    std::uint64_t count = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, count);
    if (error != std::errc()) return std::nullopt;
    const std::string_view name(stop, static_cast<std::size_t>(end - stop));
    for (const Unit& unit : units) {
        if (unit.name != name) continue;
        if (count > largest / unit.size) return std::nullopt;
        return count * unit.size;
    }
    return std::nullopt;
}

std::string format(std::uint64_t amount, std::span<const Unit> units) {
    for (const Unit& unit : units) {
        if (amount % unit.size == 0) return fmt::format("{}{}", amount / unit.size, unit.name);
    }
    return std::to_string(amount);
}

}  // namespace

std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text) {
    if (text == "0") return std::chrono::nanoseconds(0);
    const auto amount = parse(text, durations, std::numeric_limits<std::int64_t>::max());
    if (!amount) return std::nullopt;
    return std::chrono::nanoseconds(static_cast<std::int64_t>(*amount));
}

std::string format_duration(std::chrono::nanoseconds duration) {
    if (duration.count() == 0) return "0s";
    // A day is how people say 24 hours only when they mean several.
    if (duration == std::chrono::days(1)) return "24h";
    return format(static_cast<std::uint64_t>(duration.count()), durations);
}

std::optional<std::uint64_t> parse_bytes(std::string_view text) {
    constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();
    const bool is_bare = text.find_first_not_of("0123456789") == std::string_view::npos;
    if (is_bare) return parse(std::string(text) + 'B', byte_counts, largest);
    return parse(text, byte_counts, largest);
}

std::string format_bytes(std::uint64_t bytes) {
    if (bytes == 0) return "0B";
    return format(bytes, byte_counts);
}

}  // namespace tenon::runtime
