#include "runtime/metrics.hpp"

#include <prometheus/collectable.h>
#include <prometheus/text_serializer.h>

#include <cmath>
#include <map>
#include <mutex>
#include <new>
#include <sstream>
#include <thread>

#include "base/assert.hpp"
#include "runtime/process_metrics.hpp"

namespace tenon::runtime {
namespace {

constexpr std::size_t cells_per_block = 512;
constexpr std::size_t cache_line = 64;
constexpr double nanoseconds_per_second = 1e9;

// Cells of several metrics, once per shard; a shard's block is written by its threads only.
class Block {
public:
    Block() {
        for (std::size_t shard = 0; shard < shards_total(); ++shard) {
            shards_.push_back(std::make_unique<Lines>());
            cells_.push_back(shards_.back()->cells.data());
        }
    }
    [[nodiscard]] bool has_room(std::size_t count) const {
        return used_ + count <= cells_per_block;
    }
    Cells take(std::size_t count) {
        const std::size_t offset = used_;
        used_ += count;
        return {cells_.data(), offset};
    }

private:
    struct alignas(cache_line) Lines {
        std::array<Cell, cells_per_block> cells{};
    };
    std::vector<std::unique_ptr<Lines>> shards_;
    std::vector<Cell*> cells_;
    std::size_t used_ = 0;
};

enum class MetricKind { counter, up_down, gauge, durations, counts, reading };

struct Series {
    Labels labels;
    Cells cells;
    std::unique_ptr<std::atomic<double>> value;                 // of a gauge
    std::map<std::uint64_t, std::function<double()>> readings;  // by their number
};

struct Family {
    MetricKind kind = MetricKind::counter;
    std::string help;
    std::vector<double> bounds;
    std::vector<std::uint64_t> raw_bounds;
    std::map<Labels, Series> series;
};

bool is_name(std::string_view name) {
    const auto is_letter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    };
    return !name.empty() && !(name[0] >= '0' && name[0] <= '9') &&
           std::all_of(name.begin(), name.end(), is_letter);
}

void check(const MetricName& name, MetricKind kind) {
    TENON_ASSERT(is_name(name.name));
    TENON_ASSERT(name.name.ends_with("_total") == (kind == MetricKind::counter));
    for (const auto& [label, value] : name.labels) TENON_ASSERT(is_name(label) && label != "le");
}

std::vector<std::uint64_t> to_raw(std::span<const double> bounds, double scale) {
    std::vector<std::uint64_t> raw;
    for (const double bound : bounds) {
        raw.push_back(static_cast<std::uint64_t>(std::llround(bound * scale)));
    }
    TENON_ASSERT(std::is_sorted(raw.begin(), raw.end()));
    return raw;
}

prometheus::MetricType type_of(MetricKind kind) {
    switch (kind) {
        case MetricKind::counter:
            return prometheus::MetricType::Counter;
        case MetricKind::durations:
        case MetricKind::counts:
            return prometheus::MetricType::Histogram;
        case MetricKind::up_down:
        case MetricKind::gauge:
        case MetricKind::reading:
            break;
    }
    return prometheus::MetricType::Gauge;
}

double gauge_value(MetricKind kind, const Series& series) {
    if (kind == MetricKind::up_down) {
        return static_cast<double>(static_cast<std::int64_t>(series.cells.sum(0)));
    }
    if (kind == MetricKind::gauge) return series.value->load(std::memory_order_relaxed);
    double sum = 0;
    for (const auto& [number, read] : series.readings) sum += read();
    return sum;
}

void fill_histogram(prometheus::ClientMetric::Histogram& to, const Family& of,
                    const Series& series) {
    std::uint64_t count = 0;
    for (std::size_t bucket = 0; bucket < of.bounds.size(); ++bucket) {
        count += series.cells.sum(bucket);
        to.bucket.push_back({count, of.bounds[bucket]});
    }
    // Counted from the buckets, so that a scrape in the middle of a write is still consistent.
    to.sample_count = count + series.cells.sum(of.bounds.size());
    const auto sum = static_cast<double>(series.cells.sum(of.bounds.size() + 1));
    to.sample_sum = of.kind == MetricKind::durations ? sum / nanoseconds_per_second : sum;
}

prometheus::ClientMetric collect_series(const Family& of, const Series& series) {
    prometheus::ClientMetric metric;
    for (const auto& [name, value] : series.labels) metric.label.push_back({name, value});
    switch (of.kind) {
        case MetricKind::counter:
            metric.counter.value = static_cast<double>(series.cells.sum(0));
            break;
        case MetricKind::durations:
        case MetricKind::counts:
            fill_histogram(metric.histogram, of, series);
            break;
        case MetricKind::up_down:
        case MetricKind::gauge:
        case MetricKind::reading:
            metric.gauge.value = gauge_value(of.kind, series);
            break;
    }
    return metric;
}

}  // namespace

std::size_t shards_total() {
    static const std::size_t total =
        std::min<std::size_t>(std::thread::hardware_concurrency() + 4, 64);
    return total;
}

std::size_t shard_of_this_thread() {
    static std::atomic<std::size_t> next{0};
    thread_local const std::size_t shard = next.fetch_add(1) % shards_total();
    return shard;
}

std::uint64_t Cells::sum(std::size_t cell) const {
    if (blocks_ == nullptr) return 0;
    std::uint64_t total = 0;
    for (std::size_t shard = 0; shard < shards_total(); ++shard) {
        total += blocks_[shard][offset_ + cell].load(std::memory_order_relaxed);
    }
    return total;
}

struct Metrics::State final : prometheus::Collectable {
    mutable std::mutex lock;
    std::map<std::string, Family, std::less<>> families;
    std::vector<std::unique_ptr<Block>> blocks;
    std::uint64_t readings_made = 0;

    Family& family(const MetricName& name, MetricKind kind, std::span<const double> bounds = {}) {
        check(name, kind);
        auto [found, is_new] = families.try_emplace(std::string(name.name));
        Family& of = found->second;
        if (is_new) {
            of.kind = kind;
            of.help = name.help;
            of.bounds.assign(bounds.begin(), bounds.end());
            of.raw_bounds =
                to_raw(bounds, kind == MetricKind::durations ? nanoseconds_per_second : 1.0);
        }
        TENON_ASSERT(of.kind == kind && of.help == name.help);
        TENON_ASSERT(std::equal(bounds.begin(), bounds.end(), of.bounds.begin(), of.bounds.end()));
        return of;
    }

    Series& series(Family& of, const MetricName& name, std::size_t cells_wanted) {
        auto [found, is_new] = of.series.try_emplace(name.labels);
        Series& one = found->second;
        if (is_new) {
            one.labels = name.labels;
            if (cells_wanted > 0) one.cells = take_cells(cells_wanted);
            if (of.kind == MetricKind::gauge) one.value = std::make_unique<std::atomic<double>>(0);
        }
        return one;
    }

    Cells take_cells(std::size_t count) {
        TENON_ASSERT(count <= cells_per_block);
        if (blocks.empty() || !blocks.back()->has_room(count)) {
            blocks.push_back(std::make_unique<Block>());
        }
        return blocks.back()->take(count);
    }

    Histogram histogram(const MetricName& name, MetricKind kind, std::span<const double> bounds) {
        const std::scoped_lock guard(lock);
        Family& of = family(name, kind, bounds);
        // One cell per bound, one above all bounds, one for the sum.
        return {series(of, name, bounds.size() + 2).cells, of.raw_bounds};
    }

    [[nodiscard]] std::vector<prometheus::MetricFamily> Collect() const override {
        std::vector<prometheus::MetricFamily> all = collect_process_metrics();
        const std::scoped_lock guard(lock);
        for (const auto& [name, of] : families) {
            prometheus::MetricFamily out{name, of.help, type_of(of.kind), {}};
            for (const auto& [labels, one] : of.series) {
                if (of.kind == MetricKind::reading && one.readings.empty()) continue;
                out.metric.push_back(collect_series(of, one));
            }
            if (!out.metric.empty()) all.push_back(std::move(out));
        }
        return all;
    }
};

Metrics::Metrics() : state_(std::make_unique<State>()) {}
Metrics::~Metrics() = default;

Counter Metrics::counter(const MetricName& name) {
    const std::scoped_lock guard(state_->lock);
    return Counter(state_->series(state_->family(name, MetricKind::counter), name, 1).cells);
}

UpDown Metrics::up_down(const MetricName& name) {
    const std::scoped_lock guard(state_->lock);
    return UpDown(state_->series(state_->family(name, MetricKind::up_down), name, 1).cells);
}

Gauge Metrics::gauge(const MetricName& name) {
    const std::scoped_lock guard(state_->lock);
    return Gauge(state_->series(state_->family(name, MetricKind::gauge), name, 0).value.get());
}

Histogram Metrics::durations(const MetricName& name, std::span<const double> bounds) {
    return state_->histogram(name, MetricKind::durations, bounds);
}

Histogram Metrics::counts(const MetricName& name, std::span<const double> bounds) {
    return state_->histogram(name, MetricKind::counts, bounds);
}

Reading Metrics::reading(const MetricName& name, std::function<double()> read) {
    const std::scoped_lock guard(state_->lock);
    Series& one = state_->series(state_->family(name, MetricKind::reading), name, 0);
    const std::uint64_t number = ++state_->readings_made;
    one.readings.emplace(number, std::move(read));
    return {*this, number};
}

void Metrics::forget(std::uint64_t number) {
    const std::scoped_lock guard(state_->lock);
    for (auto& [name, of] : state_->families) {
        for (auto& [labels, one] : of.series) {
            if (one.readings.erase(number) > 0) return;
        }
    }
}

std::string Metrics::expose() const {
    std::ostringstream out;
    out.imbue(std::locale::classic());
    prometheus::TextSerializer().Serialize(out, state_->Collect());
    return std::move(out).str();
}

Reading& Reading::operator=(Reading&& other) noexcept {
    if (this == &other) return *this;
    if (metrics_ != nullptr) metrics_->forget(number_);
    metrics_ = std::exchange(other.metrics_, nullptr);
    number_ = other.number_;
    return *this;
}

Reading::~Reading() {
    if (metrics_ != nullptr) metrics_->forget(number_);
}

Metrics& metrics() {
    static Metrics all;
    return all;
}

}  // namespace tenon::runtime
