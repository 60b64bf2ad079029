#include "services/links/decide.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "services/links/errors.hpp"
#include "services/links/target.hpp"

namespace tenon::links {
namespace {

constexpr std::array<std::int32_t, 4> redirect_statuses{301, 302, 307, 308};

bool is_alias_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
}

base::Result<std::string> check_target(const std::string& url, const OwnOrigins& own) {
    auto serialised = parse_target(url);
    if (serialised && own.leads_here(*serialised)) {
        return base::fail(errors::target_is_own,
                          "this URL leads to this server; give the page that the visitor should "
                          "reach instead");
    }
    return serialised;
}

/// A link always has a target, a status and a choice about queries.
base::Result<void> refuse_removals(const EditLink& asked) {
    base::Error error(errors::cannot_remove, "only title and expires_at can be removed by null");
    if (asked.url.is_null()) error.add_field("/url", "a URL, or leave it out");
    if (asked.status.is_null()) error.add_field("/status", "a status, or leave it out");
    if (asked.forward_query.is_null()) {
        error.add_field("/forward_query", "true or false, or leave it out");
    }
    if (error.fields().empty()) return {};
    return base::fail(std::move(error));
}

base::Result<void> check_status(std::int32_t status) {
    if (std::ranges::find(redirect_statuses, status) != redirect_statuses.end()) return {};
    return base::fail(
        base::Error(errors::invalid_status, fmt::format("{} is not 301, 302, 307 or 308", status))
            .add_field("/status", "301, 302, 307 or 308"));
}

base::Result<void> check_expiry(const std::optional<base::Time>& expires_at, base::Time now) {
    if (!expires_at || *expires_at > now) return {};
    return base::fail(base::Error(errors::invalid_expiry, "expires_at must lie in the future")
                          .add_field("/expires_at", "a time in the future"));
}

base::Result<void> refuse_alias(std::string reason) {
    return base::fail(
        base::Error(errors::invalid_alias, reason).add_field("/alias", std::move(reason)));
}

}  // namespace

base::Result<void> check_alias(std::string_view alias, const std::vector<std::string>& reserved) {
    if (alias.empty() || alias.size() > alias_bytes_max) {
        return refuse_alias(fmt::format("1 to {} characters", alias_bytes_max));
    }
    if (!std::ranges::all_of(alias, is_alias_character)) {
        return refuse_alias("only letters A-Z and a-z, digits, '-' and '_'");
    }
    if (base::has_code_form(alias)) {
        return refuse_alias(
            "not the form of a generated code: 7 letters and digits with a digit and a capital; "
            "add or drop a character");
    }
    if (std::ranges::find(reserved, alias) != reserved.end()) {
        return refuse_alias(fmt::format("not '{}', which is a path of this server", alias));
    }
    return {};
}

std::optional<base::Slot> slot_of_path(const base::Bijection& bijection, const base::Uuid& domain,
                                       std::string_view path) {
    if (base::has_code_form(path)) {
        const auto number = base::read_code(bijection, path);
        if (!number || number->k >= codes_per_slot_bound) return std::nullopt;
        return number->slot;
    }
    if (path.empty() || path.size() > alias_bytes_max) return std::nullopt;
    if (!std::ranges::all_of(path, is_alias_character)) return std::nullopt;
    return base::slot_of(domain, path);
}

base::Result<Row> decide_create(const CreateLink& asked, const DomainFacts& domain,
                                const CreateFacts& facts) {
    auto url = check_target(asked.url, facts.own);
    if (!url) return base::fail(std::move(url.error()));
    if (asked.alias) {
        if (auto alias = check_alias(*asked.alias, facts.reserved); !alias) {
            return base::fail(std::move(alias.error()));
        }
    }
    const auto status = asked.status.value_or(302);
    if (auto checked = check_status(status); !checked) return base::fail(checked.error());
    if (auto expiry = check_expiry(asked.expires_at, facts.now); !expiry) {
        return base::fail(expiry.error());
    }
    return Row{.domain = domain.id,
               .code = asked.alias.value_or(""),
               .project = facts.project,
               .url = std::move(*url),
               .status = static_cast<std::int16_t>(status),
               .forward_query = asked.forward_query.value_or(false),
               .title = asked.title,
               .expires_at = asked.expires_at,
               .created_at = facts.now,
               .updated_at = facts.now};
}

base::Result<Row> decide_edit(Row row, const EditLink& asked, const EditFacts& facts) {
    if (auto refused = refuse_removals(asked); !refused) return base::fail(refused.error());
    if (asked.url.has_value()) {
        auto url = check_target(asked.url.value(), facts.own);
        if (!url) return base::fail(std::move(url.error()));
        row.url = std::move(*url);
    }
    if (asked.status.has_value()) {
        if (auto checked = check_status(asked.status.value()); !checked) {
            return base::fail(checked.error());
        }
        row.status = static_cast<std::int16_t>(asked.status.value());
    }
    if (asked.expires_at.has_value()) {
        if (auto checked = check_expiry(asked.expires_at.value(), facts.now); !checked) {
            return base::fail(checked.error());
        }
    }
    asked.expires_at.apply_to(row.expires_at);
    asked.title.apply_to(row.title);
    if (asked.forward_query.has_value()) row.forward_query = asked.forward_query.value();
    row.updated_at = facts.now;
    return row;
}

Visit decide_visit(const Target& target, base::Time now) {
    return target.expires_at && *target.expires_at <= now ? Visit::expired : Visit::follow;
}

namespace {

// Part of every answer, and five times as fast as by a format string.
std::string short_url_of(const DomainFacts& domain, std::string_view code) {
    std::string url;
    url.reserve(domain.scheme.size() + domain.host.size() + code.size() + 4);
    return url.append(domain.scheme).append("://").append(domain.host).append("/").append(code);
}

}  // namespace

Link show(const Row& row, const DomainFacts& domain) {
    return {.code = row.code,
            .short_url = short_url_of(domain, row.code),
            .url = row.url,
            .domain = domain.host,
            .status = row.status,
            .forward_query = row.forward_query,
            .title = row.title,
            .expires_at = row.expires_at,
            .created_at = row.created_at,
            .updated_at = row.updated_at};
}

Target target_of(const Row& row) {
    return {.project = row.project,
            .url = row.url,
            .status = row.status,
            .forward_query = row.forward_query,
            .expires_at = row.expires_at};
}

}  // namespace tenon::links
