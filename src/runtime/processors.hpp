// How much of the machine this process may use.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace tenon::runtime {

/// How many processors this process may keep busy.
///
/// Shape:  at least 1: the smaller of the affinity mask and the CPU quota of its cgroup (v2) or of
///         any cgroup above it, a fraction rounded up.
/// Source: sched_getaffinity(2); "cpu.max" in the kernel's cgroup-v2 document.
[[nodiscard]] std::size_t processors();

/// The quota that the text of a `cpu.max` file states, in whole processors, rounded up.
///
/// Shape: "150000 100000" gives 2; "max 100000" and anything malformed give nullopt.
[[nodiscard]] std::optional<std::size_t> quota_of(std::string_view cpu_max);

/// The cgroup v2 path in the text of /proc/self/cgroup, the line that begins with "0::".
[[nodiscard]] std::optional<std::string_view> cgroup_of(std::string_view proc_self_cgroup);

}  // namespace tenon::runtime
