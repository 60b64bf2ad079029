#include "runtime/metrics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace tenon::runtime {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const MetricName sent{"tenon_test_sent_total", "Things sent.", {{"lane", "a"}}};

TEST(Metrics, CountersOfSeveralThreadsAreSummed) {
    Metrics metrics;
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
        threads.emplace_back([&metrics] {
            const Counter counter = metrics.counter(sent);
            for (int n = 0; n < 10'000; ++n) counter.add();
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(metrics.counter(sent).value(), 80'000U);
    EXPECT_THAT(metrics.expose(), HasSubstr("# HELP tenon_test_sent_total Things sent.\n"
                                            "# TYPE tenon_test_sent_total counter\n"
                                            "tenon_test_sent_total{lane=\"a\"} 80000\n"));
}

TEST(Metrics, ThreadsWriteToShardsOfTheirOwn) {
    std::array<std::size_t, 2> shards{};
    for (std::size_t& shard : shards) {
        std::thread([&shard] { shard = shard_of_this_thread(); }).join();
    }
    EXPECT_NE(shards[0], shards[1]);
    EXPECT_LT(std::max(shards[0], shards[1]), shards_total());
}

TEST(Metrics, ScrapesWhileOthersWrite) {
    Metrics metrics;
    std::atomic<bool> done{false};
    std::thread writer([&] {
        const Histogram took = metrics.durations({"tenon_test_seconds", "Time."});
        for (int n = 0; n < 20'000; ++n) took.observe(std::chrono::microseconds(n));
        done = true;
    });
    while (!done) EXPECT_FALSE(metrics.expose().empty());
    writer.join();
    EXPECT_THAT(metrics.expose(), HasSubstr("tenon_test_seconds_count 20000\n"));
}

TEST(Metrics, ManySeriesOverManyBlocksStayApart) {
    Metrics metrics;
    std::vector<Counter> counters;
    for (int i = 0; i < 2'000; ++i) {
        counters.push_back(
            metrics.counter({"tenon_test_many_total", "Many.", {{"number", std::to_string(i)}}}));
        counters.back().add(static_cast<std::uint64_t>(i));
    }
    for (std::size_t i = 0; i < counters.size(); ++i) EXPECT_EQ(counters[i].value(), i);
}

TEST(Metrics, UpDownFallsOnAnotherThreadThanItRose) {
    Metrics metrics;
    const UpDown open = metrics.up_down({"tenon_test_open", "Open."});
    open.add(3);
    std::thread([&open] { open.add(-5); }).join();
    EXPECT_EQ(open.value(), -2);
    EXPECT_THAT(metrics.expose(), HasSubstr("tenon_test_open -2\n"));
}

TEST(Metrics, GaugeHoldsWhatWasSetLast) {
    Metrics metrics;
    metrics.gauge({"tenon_test_lag_seconds", "Lag."}).set(1.0);
    metrics.gauge({"tenon_test_lag_seconds", "Lag."}).set(0.25);
    EXPECT_THAT(metrics.expose(), HasSubstr("tenon_test_lag_seconds 0.25\n"));
}

TEST(Metrics, HistogramBucketsAreCumulativeAndBoundsInclusive) {
    Metrics metrics;
    const std::array<double, 2> bounds{0.001, 0.01};
    const Histogram took = metrics.durations({"tenon_test_seconds", "Time."}, bounds);
    took.observe(std::chrono::milliseconds(1));
    took.observe(std::chrono::microseconds(1'001));
    took.observe(std::chrono::seconds(2));
    took.observe(std::chrono::nanoseconds(-1));
    const std::string text = metrics.expose();
    EXPECT_THAT(text, HasSubstr("tenon_test_seconds_bucket{le=\"0.001\"} 2\n"));
    EXPECT_THAT(text, HasSubstr("tenon_test_seconds_bucket{le=\"0.01\"} 3\n"));
    EXPECT_THAT(text, HasSubstr("tenon_test_seconds_bucket{le=\"+Inf\"} 4\n"));
    EXPECT_THAT(text, HasSubstr("tenon_test_seconds_count 4\n"));
    EXPECT_THAT(text, HasSubstr("tenon_test_seconds_sum 2.002001\n"));
}

TEST(Metrics, CountHistogramsExposeWholeNumbers) {
    Metrics metrics;
    const Histogram size = metrics.counts({"tenon_test_batch_items", "Items."});
    size.observe(std::size_t{512});
    EXPECT_THAT(metrics.expose(), HasSubstr("tenon_test_batch_items_bucket{le=\"512\"} 1\n"));
    EXPECT_THAT(metrics.expose(), HasSubstr("tenon_test_batch_items_sum 512\n"));
}

TEST(Metrics, ReadingsOfOneNameAreSummedAndEndWithTheirOwner) {
    Metrics metrics;
    const MetricName waiting{"tenon_test_waiting", "Waiting.", {{"pool", "p"}}};
    Reading first = metrics.reading(waiting, [] { return 2.0; });
    {
        const Reading second = metrics.reading(waiting, [] { return 3.0; });
        EXPECT_THAT(metrics.expose(), HasSubstr("tenon_test_waiting{pool=\"p\"} 5\n"));
    }
    Reading moved = std::move(first);
    EXPECT_THAT(metrics.expose(), HasSubstr("tenon_test_waiting{pool=\"p\"} 2\n"));
    moved = Reading();
    EXPECT_THAT(metrics.expose(), Not(HasSubstr("tenon_test_waiting")));
}

TEST(Metrics, LabelValuesAreEscaped) {
    Metrics metrics;
    metrics.counter({"tenon_test_odd_total", "Odd.", {{"x", "a\"b\\c\nd"}}}).add();
    EXPECT_THAT(metrics.expose(), HasSubstr(R"(tenon_test_odd_total{x="a\"b\\c\nd"} 1)"));
}

TEST(Metrics, DefaultHandlesTakeWritesAndDropThem) {
    Counter().add();
    UpDown().add(1);
    Gauge().set(1);
    Histogram().observe(std::chrono::seconds(1));
    EXPECT_EQ(Counter().value(), 0U);
}

TEST(Metrics, TheProcessDescribesItself) {
    const std::string text = Metrics().expose();
    for (const char* name :
         {"process_cpu_seconds_total", "process_open_fds", "process_max_fds", "process_threads",
          "process_resident_memory_bytes", "process_virtual_memory_bytes",
          "process_start_time_seconds", "tenon_log_lines_dropped_total"}) {
        EXPECT_THAT(text, HasSubstr(std::string("\n") + name + " "));
    }
}

TEST(MetricsDeathTest, TheSameNameWithAnotherMeaningIsABug) {
    Metrics metrics;
    metrics.counter(sent).add();
    EXPECT_DEATH((void)metrics.counter({"tenon_test_sent_total", "Other."}), "help");
    EXPECT_DEATH((void)metrics.counter({"tenon_test_sent", "Things."}), "_total");
}

}  // namespace
}  // namespace tenon::runtime
