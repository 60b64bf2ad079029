// Numbers for Prometheus: registered once, written by every core without sharing a cache line.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tenon::runtime {

/// Label names and values, fixed when a metric is registered: {{"endpoint", "links.create"}}.
using Labels = std::vector<std::pair<std::string, std::string>>;

/// Upper bounds in seconds of the histograms of request durations (RED: rate, errors, duration):
/// 12 buckets from 500 µs to 10 s, dense where the service's promises lie (1 to 50 ms) and ending
/// at the default request deadline.
inline constexpr std::array<double, 12> duration_bounds{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
                                                        0.05,   0.1,   0.25,   1.0,   2.5,  10.0};
/// Upper bounds for counts: items of a batch, waiters of a queue.
inline constexpr std::array<double, 12> count_bounds{1,  2,   4,   8,   16,    32,
                                                     64, 128, 256, 512, 1'024, 8'192};

/// One number of one shard.
using Cell = std::atomic<std::uint64_t>;

/// Which cells the calling thread writes: fixed at its first write, below shards_total().
[[nodiscard]] std::size_t shard_of_this_thread();
/// One shard per processor and four for other threads, at most 64; threads beyond share.
[[nodiscard]] std::size_t shards_total();

/// Where a metric's cells are: one block per shard, each block on cache lines of its own.
///
/// Owns: nothing; valid as long as its Metrics. A default one takes writes and drops them.
/// Cost: two loads and one uncontended atomic addition.
class Cells {
public:
    Cells() = default;
    Cells(Cell* const* blocks, std::size_t offset) : blocks_(blocks), offset_(offset) {}
    void add(std::size_t cell, std::uint64_t amount) const {
        if (blocks_ == nullptr) return;
        blocks_[shard_of_this_thread()][offset_ + cell].fetch_add(amount,
                                                                  std::memory_order_relaxed);
    }
    /// The sum over all shards, modulo 2^64.
    [[nodiscard]] std::uint64_t sum(std::size_t cell) const;

private:
    Cell* const* blocks_ = nullptr;
    std::size_t offset_ = 0;
};

/// A number that only grows. Copies write the same metric.
///
/// Threads: all.
class Counter {
public:
    Counter() = default;
    explicit Counter(Cells cells) : cells_(cells) {}
    void add(std::uint64_t amount = 1) const { cells_.add(0, amount); }
    [[nodiscard]] std::uint64_t value() const { return cells_.sum(0); }

private:
    Cells cells_;
};

/// A number that all cores move up and down: open connections, requests in flight.
///
/// Threads: all; a decrease may come from another thread than its increase.
class UpDown {
public:
    UpDown() = default;
    explicit UpDown(Cells cells) : cells_(cells) {}
    void add(std::int64_t amount) const { cells_.add(0, static_cast<std::uint64_t>(amount)); }
    [[nodiscard]] std::int64_t value() const { return static_cast<std::int64_t>(cells_.sum(0)); }

private:
    Cells cells_;
};

/// A number that somebody sets: seconds of lag, bytes of a table. The last writer wins.
///
/// Threads: all, but one cache line: not for hot paths of several cores.
class Gauge {
public:
    Gauge() = default;
    explicit Gauge(std::atomic<double>* value) : value_(value) {}
    void set(double value) const {
        if (value_ != nullptr) value_->store(value, std::memory_order_relaxed);
    }
    [[nodiscard]] double value() const { return value_ == nullptr ? 0.0 : value_->load(); }

private:
    std::atomic<double>* value_ = nullptr;
};

/// How often values fell below each bound.
///
/// Units:   `Scale` says how many units of a raw value are one of the exposed unit.
/// Threads: all.
/// Cost:    two uncontended atomic additions and a search over the bounds.
class Histogram {
public:
    Histogram() = default;
    Histogram(Cells cells, std::span<const std::uint64_t> bounds)
        : cells_(cells), bounds_(bounds) {}
    /// Adds a duration to a histogram made by Metrics::durations.
    void observe(std::chrono::nanoseconds duration) const {
        observe_raw(static_cast<std::uint64_t>(std::max<std::int64_t>(0, duration.count())));
    }
    /// Adds a count to a histogram made by Metrics::counts.
    void observe(std::size_t count) const { observe_raw(count); }

private:
    void observe_raw(std::uint64_t value) const {
        const auto bucket = std::lower_bound(bounds_.begin(), bounds_.end(), value);
        cells_.add(static_cast<std::size_t>(bucket - bounds_.begin()), 1);
        cells_.add(bounds_.size() + 1, value);
    }

    Cells cells_;
    std::span<const std::uint64_t> bounds_;
};

class Metrics;

/// Keeps a function registered that is asked for a value at every scrape.
///
/// Expects: its Metrics outlives it. Once it is destroyed the function is not running any more.
class Reading {
public:
    Reading() = default;
    Reading(Metrics& metrics, std::uint64_t number) : metrics_(&metrics), number_(number) {}
    Reading(Reading&& other) noexcept
        : metrics_(std::exchange(other.metrics_, nullptr)), number_(other.number_) {}
    Reading& operator=(Reading&& other) noexcept;
    ~Reading();

private:
    Metrics* metrics_ = nullptr;
    std::uint64_t number_ = 0;
};

/// What a metric is called and what it means, for its first registration and every later one.
struct MetricName {
    std::string_view name;  ///< tenon_ROOM_what_unit; counters end in _total
    std::string_view help;  ///< one sentence
    Labels labels{};        ///< fixed values; few: each set is a time series of its own
};

/// All metrics of a process.
///
/// Shape:   registering a name and labels again gives the same metric, so every core registers for
///          itself; the same name with another kind, help or bounds is a bug and ends the process.
/// Threads: all. Registration takes a lock: at start, never on a hot path; keep the handles.
/// Cost:    expose() sums (series × shards) cells and reads /proc: below a millisecond.
class Metrics {
public:
    Metrics();
    ~Metrics();
    Metrics(const Metrics&) = delete;
    Metrics& operator=(const Metrics&) = delete;

    [[nodiscard]] Counter counter(const MetricName& name);
    [[nodiscard]] UpDown up_down(const MetricName& name);
    [[nodiscard]] Gauge gauge(const MetricName& name);
    /// `bounds` in seconds, ascending.
    [[nodiscard]] Histogram durations(const MetricName& name,
                                      std::span<const double> bounds = duration_bounds);
    /// `bounds` are whole numbers, ascending.
    [[nodiscard]] Histogram counts(const MetricName& name,
                                   std::span<const double> bounds = count_bounds);
    /// A gauge whose value `read` tells. Several of the same name and labels are summed.
    ///
    /// Threads: `read` runs on whichever thread scrapes, under the registry's lock: it reads
    ///          atomics and calls nothing of Metrics.
    [[nodiscard]] Reading reading(const MetricName& name, std::function<double()> read);

    /// All metrics and those of the process in Prometheus' text format 0.0.4, for /metrics.
    [[nodiscard]] std::string expose() const;

private:
    friend class Reading;
    void forget(std::uint64_t number);

    struct State;
    std::unique_ptr<State> state_;
};

/// The process's own registry. Tests make their own.
[[nodiscard]] Metrics& metrics();

/// The content type of Metrics::expose().
inline constexpr std::string_view metrics_content_type = "text/plain; version=0.0.4; charset=utf-8";

}  // namespace tenon::runtime
