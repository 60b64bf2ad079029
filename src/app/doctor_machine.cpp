#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "app/doctor.hpp"
#include "runtime/units.hpp"

namespace tenon::app {

namespace {

constexpr std::int64_t disk_free_min = std::int64_t{256} << 20;
constexpr std::int64_t disk_free_noticed = std::int64_t{2} << 30;
// Sockets that listen, logs, loops and timers of every core, and the program itself.
constexpr std::int64_t files_besides = 100;

Finding judge_disk(const MachineFacts& machine) {
    const auto severity = machine.disk_free < disk_free_min       ? Severity::failure
                          : machine.disk_free < disk_free_noticed ? Severity::warning
                                                                  : Severity::ok;
    const auto as_gib = [](std::int64_t bytes) { return static_cast<double>(bytes) / (1 << 30); };
    return make_finding(
        "machine.disk", severity,
        fmt::format("{:.1f} of {:.1f} GiB are free where {} lies", as_gib(machine.disk_free),
                    as_gib(machine.disk_size), *machine.folder),
        "free some space, or take another folder with --data");
}

Finding judge_files(const MachineFacts& machine) {
    const auto wanted = machine.connections_max +
                        machine.cores * (machine.connections_per_core + 1) + files_besides;
    return make_finding(
        "machine.open_files", machine.files_max >= wanted ? Severity::ok : Severity::warning,
        fmt::format("{} files may be open; http.connections_max = {} needs {}", machine.files_max,
                    machine.connections_max, wanted),
        fmt::format("LimitNOFILE={} in the systemd unit (or ulimit -n {}), or a lower "
                    "http.connections_max",
                    wanted, wanted));
}

bool is_loopback(const std::string& address) {
    return address == "::1" || address.starts_with("127.");
}

Finding judge_encryption(const MachineFacts& machine) {
    const bool is_local = std::ranges::all_of(machine.addresses, is_loopback);
    const auto where = fmt::format("it listens on {}{}", fmt::join(machine.addresses, ", "),
                                   machine.speaks_tls ? " and speaks TLS" : "");
    const bool safe = is_local || machine.speaks_tls;
    return make_finding("http.encryption", safe ? Severity::ok : Severity::warning,
                        safe ? where : where + " without TLS: keys cross the network in clear",
                        "set http.tls_certificate and http.tls_key, or listen on loopback behind a "
                        "proxy on this machine that speaks TLS");
}

}  // namespace

std::vector<Finding> judge_machine(const MachineFacts& machine) {
    std::vector<Finding> findings;
    if (machine.folder) findings.push_back(judge_disk(machine));
    findings.push_back(judge_files(machine));
    findings.push_back(judge_encryption(machine));
    return findings;
}

std::vector<Finding> judge_server(const ServerFacts& server) {
    constexpr const char* id = "server.ready";
    if (server.status == 0) {
        const auto evidence = fmt::format("nothing answers at {}: {}", server.url, server.why_none);
        if (server.expected) {
            return {make_finding(id, Severity::failure, evidence,
                                 "look into its log, then start it anew")};
        }
        return {make_finding(id, Severity::info, evidence,
                             "start it with `tenon serve` or `tenon dev`")};
    }
    const auto evidence = fmt::format("{}/readyz answers {}", server.url, server.status);
    if (server.status == 200 && server.body.find("\"degraded\"") == std::string::npos) {
        return {make_finding(id, Severity::ok, evidence, "")};
    }
    const auto severity = server.status == 200 ? Severity::warning : Severity::failure;
    return {make_finding(id, severity, fmt::format("{}: {}", evidence, server.body),
                         "bring back what it says is not up")};
}

}  // namespace tenon::app
