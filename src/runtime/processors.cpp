#include "runtime/processors.hpp"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace tenon::runtime {
namespace {

std::string read_text(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

std::optional<std::uint64_t> read_number(std::string_view& text) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{}) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return number;
}

std::size_t allowed_by_affinity() {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    // Fails on machines with more than 1024 processors; one core is then a safe answer.
    if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 1;
    return static_cast<std::size_t>(std::max(1, CPU_COUNT(&allowed)));
}

/// Every cgroup up to the root may hold a quota, and the smallest binds.
std::size_t limit_by_cgroup(std::size_t most) {
    const std::string groups = read_text("/proc/self/cgroup");
    const auto own = cgroup_of(groups);
    if (!own) return most;
    const std::filesystem::path root = "/sys/fs/cgroup";
    std::filesystem::path group = std::filesystem::path(*own).relative_path();
    for (;; group = group.parent_path()) {
        if (const auto quota = quota_of(read_text(root / group / "cpu.max"))) {
            most = std::min(most, *quota);
        }
        if (group.empty()) return most;
    }
}

}  // namespace

std::optional<std::size_t> quota_of(std::string_view cpu_max) {
    const auto quota = read_number(cpu_max);
    if (!quota || cpu_max.empty() || cpu_max.front() != ' ') return std::nullopt;
    cpu_max.remove_prefix(1);
    const auto period = read_number(cpu_max);
    if (!period || *period == 0) return std::nullopt;
    const std::uint64_t whole = *quota / *period + (*quota % *period == 0 ? 0 : 1);
    return static_cast<std::size_t>(std::max<std::uint64_t>(1, whole));
}

std::optional<std::string_view> cgroup_of(std::string_view proc_self_cgroup) {
    while (!proc_self_cgroup.empty()) {
        const auto end = std::min(proc_self_cgroup.find('\n'), proc_self_cgroup.size());
        const std::string_view line = proc_self_cgroup.substr(0, end);
        if (line.starts_with("0::/")) return line.substr(3);
        proc_self_cgroup.remove_prefix(std::min(end + 1, proc_self_cgroup.size()));
    }
    return std::nullopt;
}

std::size_t processors() {
    return limit_by_cgroup(allowed_by_affinity());
}

}  // namespace tenon::runtime
