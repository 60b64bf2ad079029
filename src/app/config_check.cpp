#include "app/config_check.hpp"

#include <algorithm>
#include <string_view>

#include "app/tracing.hpp"
#include "http/address.hpp"
#include "http/cors.hpp"
#include "http/post.hpp"
#include "runtime/config_problems.hpp"

namespace tenon::app {

namespace {

/// Collects what is refused, each with where it was set.
class Findings {
public:
    explicit Findings(const std::vector<runtime::OptionState>& states) : states_(states) {}

    void add(std::string_view path, const std::string& sentence) {
        const auto state = std::ranges::find_if(
            states_, [path](const auto& one) { return one.option->path == path; });
        problems_.add(state == states_.end() ? std::string("default") : state->origin,
                      std::string(path).append(": ").append(sentence));
    }
    [[nodiscard]] std::optional<base::Error> error() const {
        if (problems_.empty()) return std::nullopt;
        return problems_.error();
    }

private:
    const std::vector<runtime::OptionState>& states_;
    runtime::ConfigProblems problems_;
};

void check_trace(const TraceSection& section, Findings& findings) {
    if (!section.otlp_endpoint.empty()) {
        const auto target = http::read_post_target(section.otlp_endpoint, otlp_path);
        if (!target) findings.add("trace.otlp_endpoint", target.error().detail());
    }
    if (section.sample_ratio < 0 || section.sample_ratio > 1) {
        findings.add("trace.sample_ratio", "must be a number from 0 to 1");
    }
}

}  // namespace

std::optional<base::Error> check_config(const runtime::LoadedConfig<Config>& loaded) {
    Findings findings(loaded.states);
    const HttpSection& section = loaded.values.http;
    const auto networks = http::Networks::parse(section.trusted_proxies);
    if (!networks) findings.add("http.trusted_proxies", networks.error().detail());
    for (const std::string& origin : section.cors_origins) {
        if (const auto refused = http::check_origin(origin)) {
            findings.add("http.cors_origins", refused->detail());
        }
    }
    if (section.tls_certificate.empty() != section.tls_key.empty()) {
        findings.add(section.tls_key.empty() ? "http.tls_key" : "http.tls_certificate",
                     "is empty, and TLS needs both http.tls_certificate and http.tls_key");
    }
    check_trace(loaded.values.trace, findings);
    return findings.error();
}

}  // namespace tenon::app
