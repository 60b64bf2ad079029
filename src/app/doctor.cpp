#include "app/doctor.hpp"

#include <algorithm>
#include <iterator>

namespace tenon::app {

Finding make_finding(const char* id, Severity severity, std::string evidence, std::string fix) {
    return {.id = id,
            .severity = severity,
            .node = std::nullopt,
            .evidence = std::move(evidence),
            .fix = severity == Severity::ok ? std::nullopt : std::optional(std::move(fix))};
}

std::vector<Finding> diagnose(const DoctorFacts& facts) {
    std::vector<Finding> all;
    const auto add = [&all](std::vector<Finding> more) {
        std::ranges::move(more, std::back_inserter(all));
    };
    for (const auto& node : facts.nodes) {
        add(judge_postgres(node, facts.machine));
        add(judge_schema(node));
    }
    add(judge_redis(facts.redis));
    add(judge_machine(facts.machine));
    add(judge_server(facts.server));
    return all;
}

Severity worst_of(const std::vector<Finding>& findings) {
    auto worst = Severity::ok;
    for (const auto& finding : findings) worst = std::max(worst, finding.severity);
    return worst;
}

}  // namespace tenon::app
