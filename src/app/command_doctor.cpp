#include <fmt/format.h>

#include <algorithm>

#include "app/colour.hpp"
#include "app/commands.hpp"
#include "app/doctor_gather.hpp"
#include "app/run_state.hpp"

namespace tenon::app {

namespace {

std::string word_of(Severity severity) {
    switch (severity) {
        case Severity::ok:
            return paint(stdout, Tint::green, "ok      ");
        case Severity::info:
            return paint(stdout, Tint::faint, "info    ");
        case Severity::warning:
            return paint(stdout, Tint::yellow, "warning ");
        case Severity::failure:
            return paint(stdout, Tint::red, "failure ");
    }
    return {};
}

std::string as_text(const std::vector<Finding>& findings) {
    std::string text;
    for (const auto& finding : findings) {
        const auto node = finding.node ? *finding.node + ": " : "";
        text += fmt::format("{} {:<31}{}{}\n", word_of(finding.severity), finding.id, node,
                            finding.evidence);
        if (finding.fix) text += fmt::format("{:40}fix: {}\n", "", *finding.fix);
    }
    const auto count = [&findings](Severity severity) {
        return std::ranges::count(findings, severity, &Finding::severity);
    };
    return text + fmt::format("{} failed, {} warnings, {} notes, {} ok\n", count(Severity::failure),
                              count(Severity::warning), count(Severity::info), count(Severity::ok));
}

}  // namespace

ExitCode run_doctor(const Sources& sources, OutputForm form) {
    auto config = load_for_tools(sources);
    if (!config) {
        complain(config.error().detail());
        return ExitCode::check_failed;
    }
    DoctorTarget target{.config = std::move(*config), .running = find_running(sources.data)};
    // A `tenon dev` that happens to run here is not what was asked about when others were named.
    if (target.running && target.running->postgres != target.config.postgres.conninfo.reveal()) {
        target.running.reset();
    }
    const auto findings = diagnose(gather(target));
    print_items(form, findings, as_text);
    return worst_of(findings) == Severity::failure ? ExitCode::check_failed : ExitCode::ok;
}

}  // namespace tenon::app
