// `tenon size`: what a load needs, with the arithmetic shown.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::app {

/// "100M" is 100,000,000: a number, with a fraction if need be, and k, M, G or T.
///
/// Shape: powers of 1000, in either case; nullopt for anything else, for zero, for what is no whole
///        number once multiplied, and beyond 10^15.
[[nodiscard]] std::optional<std::int64_t> parse_count(std::string_view text);

/// A load of short links, and what one machine is taken to do.
struct LinksLoad {
    std::int64_t links_per_month = 0;
    double redirects_per_link = 100;  ///< in its life
    double peak = 10;                 ///< the busiest second beside the average one
    double years = 1;                 ///< how long links are kept
    double bytes_per_link = 500;      ///< row and index entries
    double hot_share = 0.01;          ///< of the kept links, followed often enough to be kept near
    double hot_bytes = 300;           ///< of a cached link
    double creates_per_node = 5'000;  ///< a PostgreSQL node's, per second
    double redirects_per_core = 20'000;
    double bytes_per_node = 2e12;  ///< on a PostgreSQL node's disk
};

/// A line of the answer.
struct Figure {
    std::string name;  ///< stable: "redirects_per_second_peak"
    double value = 0;
    std::string unit;
    std::string formula;  ///< with the numbers in it
};
BOOST_DESCRIBE_STRUCT(Figure, (), (name, value, unit, formula))

/// Rates, bytes, memory and nodes, each with its formula. Pure.
///
/// Expects: every number of the load > 0. A month has 30 days.
[[nodiscard]] std::vector<Figure> size_links(const LinksLoad& load);

/// "4,000", "600 GB", "1.2 TB": as people read it, three digits that count. Pure.
[[nodiscard]] std::string show_figure(const Figure& figure);

}  // namespace tenon::app
