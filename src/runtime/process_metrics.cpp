#include "runtime/process_metrics.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/log.hpp"

namespace tenon::runtime {
namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;

MetricFamily family(const char* name, const char* help, MetricType type, double value) {
    prometheus::ClientMetric metric;
    if (type == MetricType::Counter) metric.counter.value = value;
    if (type == MetricType::Gauge) metric.gauge.value = value;
    return {name, help, type, {metric}};
}

std::string read_all(const char* path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

// The fields of /proc/self/stat after the command's closing parenthesis; [0] is the state.
std::vector<std::string> stat_fields() {
    const std::string all = read_all("/proc/self/stat");
    const std::size_t end = all.rfind(')');
    std::vector<std::string> fields;
    for (std::size_t at = end == std::string::npos ? all.size() : end + 2; at < all.size();) {
        const std::size_t space = std::min(all.find_first_of(" \n", at), all.size());
        fields.push_back(all.substr(at, space - at));
        at = space + 1;
    }
    return fields;
}

double number(const std::string& text) {
    double value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

std::optional<double> boot_time() {
    const std::string all = read_all("/proc/stat");
    const std::size_t at = all.find("btime ");
    if (at == std::string::npos) return std::nullopt;
    return number(all.substr(at + 6, all.find('\n', at) - at - 6));
}

std::optional<double> count_descriptors() {
    std::error_code error;
    std::filesystem::directory_iterator all("/proc/self/fd", error);
    if (error) return std::nullopt;
    // The directory being read is itself one of them.
    return static_cast<double>(std::distance(all, {})) - 1;
}

void add_stat(std::vector<MetricFamily>& to) {
    const std::vector<std::string> fields = stat_fields();
    if (fields.size() < 22) return;
    const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
    const auto page = static_cast<double>(::sysconf(_SC_PAGESIZE));
    to.push_back(family("process_cpu_seconds_total", "User and system CPU time spent.",
                        MetricType::Counter, (number(fields[11]) + number(fields[12])) / ticks));
    to.push_back(family("process_threads", "Threads of the process.", MetricType::Gauge,
                        number(fields[17])));
    to.push_back(family("process_virtual_memory_bytes", "Virtual memory.", MetricType::Gauge,
                        number(fields[20])));
    to.push_back(family("process_resident_memory_bytes", "Resident memory.", MetricType::Gauge,
                        number(fields[21]) * page));
    if (const auto boot = boot_time()) {
        to.push_back(family("process_start_time_seconds", "Start, as Unix time.", MetricType::Gauge,
                            *boot + number(fields[19]) / ticks));
    }
}

}  // namespace

std::vector<MetricFamily> collect_process_metrics() {
    std::vector<MetricFamily> all;
    add_stat(all);
    if (const auto open = count_descriptors()) {
        all.push_back(
            family("process_open_fds", "Open file descriptors.", MetricType::Gauge, *open));
    }
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        all.push_back(family("process_max_fds", "File descriptors the process may open.",
                             MetricType::Gauge, static_cast<double>(limit.rlim_cur)));
    }
    all.push_back(family("tenon_log_lines_dropped_total",
                         "Log lines lost because their queue was full.", MetricType::Counter,
                         static_cast<double>(log_lines_dropped())));
    return all;
}

}  // namespace tenon::runtime
