// What the kernel tells about this process.
#pragma once

#include <prometheus/metric_family.h>

#include <vector>

namespace tenon::runtime {

/// Memory, file descriptors, CPU seconds, start time, threads, under the names that Prometheus'
/// client libraries use. What /proc does not tell is left out.
[[nodiscard]] std::vector<prometheus::MetricFamily> collect_process_metrics();

}  // namespace tenon::runtime
