#include "app/size.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <system_error>

namespace tenon::app {

namespace {

constexpr double seconds_per_month = 30.0 * 24 * 3'600;
constexpr double codes_total = 3'521'614'606'208;  // 62^7
constexpr double count_max = 1e15;
// Head and body of a 302 with an address of some 60 bytes.
constexpr double answer_bytes = 400;

std::optional<double> factor_of(std::string_view suffix) {
    if (suffix.empty()) return 1;
    if (suffix.size() != 1) return std::nullopt;
    switch (suffix.front()) {
        case 'k':
        case 'K':
            return 1e3;
        case 'm':
        case 'M':
            return 1e6;
        case 'g':
        case 'G':
            return 1e9;
        case 't':
        case 'T':
            return 1e12;
        default:
            return std::nullopt;
    }
}

/// 1,234,567.8: with what is behind the point only where it says something.
std::string in_groups(double value) {
    const bool is_whole = value >= 100 || value == std::floor(value);
    auto text = fmt::format("{:.{}f}", value, is_whole ? 0 : value >= 10 ? 1 : 2);
    for (auto i = static_cast<std::ptrdiff_t>(std::min(text.find('.'), text.size())) - 3; i > 0;
         i -= 3) {
        text.insert(static_cast<std::size_t>(i), 1, ',');
    }
    return text;
}

std::string as_bytes(double bytes) {
    constexpr std::array units{"B", "kB", "MB", "GB", "TB", "PB"};
    std::size_t unit = 0;
    while (bytes >= 1'000 && unit + 1 < units.size()) {
        bytes /= 1'000;
        ++unit;
    }
    return fmt::format("{} {}", in_groups(bytes), units.at(unit));
}

/// Rates of one kind of request.
void add_rates(std::vector<Figure>& figures, const LinksLoad& load, const std::string& name,
               double average, const std::string& formula) {
    figures.push_back({.name = name + "_per_second_average",
                       .value = average,
                       .unit = "1/s",
                       .formula = formula});
    figures.push_back({.name = name + "_per_second_peak",
                       .value = average * load.peak,
                       .unit = "1/s",
                       .formula = fmt::format("average x peak {}", in_groups(load.peak))});
}

void add_storage(std::vector<Figure>& figures, const LinksLoad& load, double kept) {
    const auto links = in_groups(kept);
    figures.push_back({.name = "links_kept",
                       .value = kept,
                       .unit = "",
                       .formula = fmt::format("per month x 12 x {} years", in_groups(load.years))});
    figures.push_back({.name = "codes_used",
                       .value = kept / codes_total * 100,
                       .unit = "%",
                       .formula = fmt::format("{} / 62^7", links)});
    figures.push_back(
        {.name = "disk_bytes",
         .value = kept * load.bytes_per_link,
         .unit = "bytes",
         .formula = fmt::format("{} x {} bytes", links, in_groups(load.bytes_per_link))});
    figures.push_back(
        {.name = "cache_bytes",
         .value = kept * load.hot_share * load.hot_bytes,
         .unit = "bytes",
         .formula = fmt::format("{} x {} % hot x {} bytes", links, in_groups(load.hot_share * 100),
                                in_groups(load.hot_bytes))});
}

void add_machines(std::vector<Figure>& figures, const LinksLoad& load, double creates,
                  double redirects, double bytes) {
    const double by_rate = std::ceil(creates / load.creates_per_node);
    const double by_disk = std::ceil(bytes / load.bytes_per_node);
    figures.push_back({.name = "postgres_nodes",
                       .value = std::max(by_rate, by_disk),
                       .unit = "",
                       .formula = fmt::format(
                           "the larger of ceil({} / {} creates/s) = {} and ceil({} / {}) = {}",
                           in_groups(creates), in_groups(load.creates_per_node), in_groups(by_rate),
                           as_bytes(bytes), as_bytes(load.bytes_per_node), in_groups(by_disk))});
    figures.push_back({.name = "server_cores",
                       .value = std::ceil(redirects / load.redirects_per_core),
                       .unit = "",
                       .formula = fmt::format("ceil({} / {} redirects/s)", in_groups(redirects),
                                              in_groups(load.redirects_per_core))});
    figures.push_back(
        {.name = "bytes_per_second_out_peak",
         .value = redirects * answer_bytes,
         .unit = "bytes",
         .formula = fmt::format("{} x {} bytes", in_groups(redirects), in_groups(answer_bytes))});
}

}  // namespace

std::optional<std::int64_t> parse_count(std::string_view text) {
    double number = 0;
    const auto* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
    if (error != std::errc{}) return std::nullopt;
    const auto factor = factor_of({rest, static_cast<std::size_t>(end - rest)});
    if (!factor) return std::nullopt;
    const double product = number * *factor;
    // 1.1M is 1,100,000.0000000001 in binary.
    const double count = std::round(product);
    if (!(count >= 1 && count <= count_max) || std::abs(product - count) > count * 1e-12) {
        return std::nullopt;
    }
    return static_cast<std::int64_t>(count);
}

std::vector<Figure> size_links(const LinksLoad& load) {
    const auto per_month = static_cast<double>(load.links_per_month);
    const double creates = per_month / seconds_per_month;
    const double kept = per_month * 12 * load.years;
    std::vector<Figure> figures;
    add_rates(figures, load, "creates", creates,
              fmt::format("{} / 2,592,000 s", in_groups(per_month)));
    add_rates(figures, load, "redirects", creates * load.redirects_per_link,
              fmt::format("creates x {} redirects per link", in_groups(load.redirects_per_link)));
    add_storage(figures, load, kept);
    add_machines(figures, load, creates * load.peak, creates * load.redirects_per_link * load.peak,
                 kept * load.bytes_per_link);
    return figures;
}

std::string show_figure(const Figure& figure) {
    if (figure.unit == "bytes") return as_bytes(figure.value);
    return figure.unit.empty() ? in_groups(figure.value)
                               : fmt::format("{} {}", in_groups(figure.value), figure.unit);
}

}  // namespace tenon::app
