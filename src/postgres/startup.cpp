#include "postgres/startup.hpp"

#include <fmt/format.h>
#include <libpq-fe.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <memory>
#include <stdexcept>
#include <vector>

namespace tenon::postgres {

namespace asio = boost::asio;

namespace {

std::vector<std::string> split(const std::string& list) {
    std::vector<std::string> parts(1);
    for (const char c : list) {
        if (c == ',') {
            parts.emplace_back();
        } else {
            parts.back() += c;
        }
    }
    return parts;
}

bool needs_lookup(const std::string& host) {
    if (host.empty() || host.front() == '/' || host.front() == '@') return false;
    boost::system::error_code not_an_address;
    asio::ip::make_address(host, not_an_address);
    return not_an_address.failed();
}

std::string join(const std::vector<std::string>& parts) {
    return fmt::format("{}", fmt::join(parts, ","));
}

/// libpq's parallel lists, one entry per address.
struct Addresses {
    std::vector<std::string> hosts;
    std::vector<std::string> addresses;
    std::vector<std::string> ports;

    void add(const std::string& host, const std::string& address, const std::string& port) {
        hosts.push_back(host);
        addresses.push_back(address);
        ports.push_back(port);
    }
};

}  // namespace

Startup::Startup(const std::string& conninfo, const SessionLimits& limits,
                 std::shared_ptr<Timeline> timeline)
    : timeline_(std::move(timeline)) {
    char* complaint = nullptr;
    const std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)> options(
        PQconninfoParse(conninfo.c_str(), &complaint), &PQconninfoFree);
    const std::unique_ptr<char, decltype(&PQfreemem)> sentence(complaint, &PQfreemem);
    if (!options) throw std::invalid_argument(complaint ? complaint : "out of memory");
    for (const PQconninfoOption* option = options.get(); option->keyword; ++option) {
        if (option->val) settings_[option->keyword] = option->val;
    }
    options_ = settings_["options"];
    set_default("application_name", "tenon");
    set_default("client_encoding", "UTF8");
    set_default("gssencmode", "disable");  // its look-ups block, and TLS does the same work
    set_default("keepalives_idle", "5");
    set_default("keepalives_interval", "2");
    set_default("keepalives_count", "3");
    set_default("tcp_user_timeout", "5000");
    set_default("target_session_attrs", "primary");
    set_limits(limits);
}

Startup Startup::with(const SessionLimits& limits) const {
    Startup other = *this;
    other.set_limits(limits);
    return other;
}

void Startup::set_default(const char* keyword, std::string_view value) {
    settings_.try_emplace(keyword, value);
}

void Startup::set_limits(const SessionLimits& limits) {
    const bool bounded = limits.statement.count() > 0;
    patience_ = bounded ? limits.statement + limits.answer_grace : limits.statement;
    settings_["options"] = fmt::format(
        "{} -c TimeZone=UTC -c plan_cache_mode=force_generic_plan "
        "-c statement_timeout={} -c lock_timeout={} "
        "-c idle_in_transaction_session_timeout={}",
        options_, limits.statement.count(), limits.lock.count(),
        limits.idle_in_transaction.count());
}

std::optional<Startup> Startup::after(std::string_view host, std::string_view port) const {
    const auto list = [&](const char* keyword) {
        const auto found = settings_.find(keyword);
        return split(found == settings_.end() ? std::string() : found->second);
    };
    const auto hosts = list("host");
    const auto addresses = list("hostaddr");
    const auto ports = list("port");
    const auto at = [](const std::vector<std::string>& parts, std::size_t i) {
        return i < parts.size() ? parts[i] : parts.front();
    };
    for (std::size_t i = 0; i + 1 < std::max(hosts.size(), addresses.size()); ++i) {
        const bool named = host == at(hosts, i) || host == at(addresses, i);
        const std::string& own_port = at(ports, i);
        if (!named || port != (own_port.empty() ? "5432" : own_port)) continue;
        Startup rest = *this;
        const auto keep = [&](const char* keyword, const std::vector<std::string>& parts) {
            if (parts.size() <= i + 1) return;
            const auto first = parts.begin() + static_cast<std::ptrdiff_t>(i) + 1;
            rest.settings_[keyword] = join({first, parts.end()});
        };
        keep("host", hosts);
        keep("hostaddr", addresses);
        keep("port", ports);
        return rest;
    }
    return std::nullopt;
}

std::string Startup::target() const {
    const auto part = [&](const char* keyword, const char* otherwise) {
        const auto found = settings_.find(keyword);
        return found == settings_.end() || found->second.empty() ? otherwise : found->second;
    };
    return fmt::format("{}:{}/{} as {}", part("host", "local socket"), part("port", "5432"),
                       part("dbname", "its user's database"), part("user", "this account"));
}

asio::awaitable<Startup> Startup::resolved(asio::io_context& io) const {
    const auto host = settings_.find("host");
    if (host == settings_.end() || settings_.contains("hostaddr")) co_return *this;
    const std::vector<std::string> hosts = split(host->second);
    if (std::ranges::none_of(hosts, needs_lookup)) co_return *this;

    const auto port = settings_.find("port");
    const std::vector<std::string> ports = split(port == settings_.end() ? "" : port->second);
    if (ports.size() != 1 && ports.size() != hosts.size()) co_return *this;  // libpq complains
    Addresses found;
    asio::ip::tcp::resolver resolver(io);
    for (std::size_t i = 0; i < hosts.size(); ++i) {
        const std::string& at = ports.size() == 1 ? ports[0] : ports[i];
        if (!needs_lookup(hosts[i])) {
            found.add(hosts[i], hosts[i].starts_with('/') ? "" : hosts[i], at);
            continue;
        }
        const auto results = co_await resolver.async_resolve(hosts[i], "", asio::use_awaitable);
        for (const auto& result : results) {
            found.add(hosts[i], result.endpoint().address().to_string(), at);
        }
    }
    Startup resolved = *this;
    resolved.settings_["host"] = join(found.hosts);
    resolved.settings_["hostaddr"] = join(found.addresses);
    resolved.settings_["port"] = join(found.ports);
    co_return resolved;
}

}  // namespace tenon::postgres
