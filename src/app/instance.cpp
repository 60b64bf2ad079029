#include "app/instance.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_future.hpp>
#include <ranges>

#include "access/errors.hpp"
#include "app/admin.hpp"
#include "app/data_folder.hpp"
#include "app/node_watch.hpp"
#include "app/topology.hpp"
#include "base/hash.hpp"
#include "runtime/log.hpp"
#include "runtime/shutdown.hpp"
#include "runtime/wait.hpp"
#include "services/links/routes.hpp"
#include "storage/claims_reaper.hpp"
#include "storage/fences.hpp"
#include "storage/lock_room.hpp"
#include "storage/migrate.hpp"

namespace tenon::access {
std::span<const storage::Migration> migrations();
}
namespace tenon::links {
std::span<const storage::Migration> migrations();
}

namespace tenon::app {

using boost::asio::awaitable;
using namespace std::chrono_literals;

namespace {

constexpr auto start_limit = 30s;
constexpr auto key_uses_every = 60s;
constexpr auto domains_every = 5s;

http::ServerOptions server_options(const Config& config) {
    return {.addresses = config.http.addresses,
            .port = config.http.port,
            .trusted_proxies = config.http.trusted_proxies,
            .cors_origins = config.http.cors_origins,
            .tls_certificate = config.http.tls_certificate,
            .tls_key = config.http.tls_key,
            .header_bytes_max = config.http.header_bytes_max,
            .body_bytes_max = config.http.body_bytes_max,
            .bodies_bytes_max = config.http.bodies_bytes_max,
            .connections_max = config.http.connections_max,
            .header_timeout = config.http.header_timeout,
            .body_timeout = config.http.body_timeout,
            .idle_timeout = config.http.idle_timeout,
            .write_timeout = config.http.write_timeout,
            .request_timeout = config.http.request_timeout};
}

links::Options links_options(const Config& config) {
    return {.cache_bytes = config.links.cache_bytes,
            .cache_ttl = config.links.cache_ttl,
            .unknown_ttl = config.links.unknown_ttl};
}

/// Cursors are signed with a key that all processes share and every restart finds again.
base::SealKey seal_key_of(const base::BijectionKey& secret) {
    return base::hmac_sha256(secret, "tenon cursors");
}

struct Url {
    std::string scheme;
    std::string authority;
};

Url split_url(const std::string& url) {
    const auto colon = url.find("://");
    auto authority = url.substr(colon + 3);
    authority = authority.substr(0, authority.find('/'));
    return {.scheme = url.substr(0, colon), .authority = std::move(authority)};
}

/// When a key was last used is a hint, for which nothing waits or fails.
awaitable<void> flush_key_uses(runtime::Call& call, access::Keys& keys) {
    try {
        co_await keys.flush_uses(call);
    } catch (const runtime::Failure& failure) {
        runtime::log(runtime::Level::debug, "the last uses of keys were not written",
                     {{"reason", failure.what()}});
    }
}

/// A lease that cannot be given back runs out by itself.
awaitable<void> give_back(runtime::Call& call, storage::ProcessLease& lease) {
    try {
        co_await lease.give_back(call);
    } catch (const runtime::Failure& failure) {
        runtime::log(runtime::Level::debug, "the process's lease was not given back",
                     {{"reason", failure.what()}});
    }
}

std::chrono::milliseconds time_left(std::chrono::steady_clock::time_point until) {
    const auto left = until - std::chrono::steady_clock::now();
    return std::max(0ms, std::chrono::duration_cast<std::chrono::milliseconds>(left));
}

/// Runs a coroutine on a core and waits for it here, on a thread that is no core's.
template <class T>
T wait_for(runtime::Core& core, awaitable<T> work) {
    return boost::asio::co_spawn(core.io(), std::move(work), boost::asio::use_future).get();
}

}  // namespace

std::vector<storage::Migration> all_migrations() {
    std::vector<storage::Migration> all;
    for (const auto room : {storage::migrations(), access::migrations(), links::migrations()}) {
        all.insert(all.end(), room.begin(), room.end());
    }
    return all;
}

postgres::PoolOptions pool_options(const Config& config,
                                   std::shared_ptr<postgres::Timelines> timelines) {
    return {.conninfo = config.postgres.conninfo.reveal(),
            .multiplexed = config.postgres.multiplexed,
            .exclusive_max = config.postgres.exclusive_max,
            .connect_timeout = config.postgres.connect_timeout,
            .statement_timeout = config.postgres.statement_timeout,
            .lock_timeout = config.postgres.lock_timeout,
            .timelines = std::move(timelines)};
}

redis::ClientOptions redis_options(const Config& config) {
    return {.address = config.redis.address,
            .username = config.redis.username,
            .password = config.redis.password.reveal(),
            .command_timeout = config.redis.command_timeout};
}

/// Asks the keys of the core on which a request runs.
class Instance::CoreKeys final : public http::Authenticator {
public:
    explicit CoreKeys(Instance& instance) : instance_(instance) {}
    awaitable<base::Result<http::Identity>> identify(runtime::Call& call,
                                                     std::string_view bearer) override {
        return instance_.parts(*call.core).keys.identify(call, bearer);
    }

private:
    Instance& instance_;
};

CoreParts::CoreParts(runtime::Core& core, const Config& config,
                     std::shared_ptr<const storage::Map> map,
                     const std::shared_ptr<postgres::Timelines>& timelines,
                     access::KeyCache& key_cache)
    : database(core, std::move(map), pool_options(config, timelines), control_options(config)),
      redis(core, redis_options(config)),
      keys(core, database, key_cache),
      jobs(core) {}

Instance::Instance(Config config)
    : config_(std::move(config)),
      cores_(config_.process.cores, clock_),
      tracing_(Tracing::make(cores_, config_)),
      timelines_(std::make_shared<postgres::Timelines>()),
      key_cache_({.bytes_max = 8 << 20, .ttl = 5s, .negative_ttl = 1s, .seed = std::nullopt}),
      authenticator_(std::make_unique<CoreKeys>(*this)) {}

Instance::~Instance() {
    if (running_) stop();
}

void Instance::start() {
    prepare_nodes();
    add_routes();
    server_ =
        std::make_unique<http::Server>(cores_, router_, *authenticator_, server_options(config_));
    server_->listen();
    cores_.start();
    running_ = true;
    if (tracing_) tracing_->start();
    make_parts();
    prepare_links();
    start_jobs();
    server_->start();
}

// A node that is away is not waited for: its buckets answer 503 until the watch has seen to it.
void Instance::prepare_nodes() {
    record_ = find_map(config_).record;
    map_ = std::make_shared<const storage::Map>(storage::map_of(record_));
    for (std::uint32_t index = 0; index < map_->nodes().size(); ++index) {
        const auto& node = map_->nodes()[index];
        try {
            const auto why = prepare_node(*map_, storage::Node{index});
            if (!why.empty()) throw CommandError(why);
            check_lock_room(node);
            holds_.emplace_back();
        } catch (const runtime::Unavailable& away) {
            runtime::log(runtime::Level::warning, "a node is away at the start",
                         {{"node", node.name}, {"reason", away.what()}});
            holds_.push_back(fmt::format("node {} was away at the start", node.name));
        }
    }
    if (std::ranges::find(holds_, std::string()) == holds_.end()) {
        throw CommandError(fmt::format("no node is up: {}", fmt::join(holds_, "; ")));
    }
}

void Instance::check_lock_room(const storage::Map::NodeSpec& node) const {
    const auto writers = storage::writers_of(cores_.size(), pool_options(config_));
    storage::Session session({.node = node.name, .conninfo = node.conninfo});
    const auto room = storage::check_lock_room(storage::read_lock_table(session), writers);
    if (room) return;
    // Only a moment with every writer in every bucket needs all of it; it must be known, though.
    runtime::log(runtime::Level::warning, "the lock table is small for this many writers",
                 {{"node", node.name}, {"mend", room.error().detail()}});
}

void Instance::make_parts() {
    parts_.resize(cores_.size());
    cores_.on_each([this](runtime::Core& core) {
        auto& own = parts_[core.index()];
        own = std::make_unique<CoreParts>(core, config_, map_, timelines_, key_cache_);
        for (std::uint32_t index = 0; index < holds_.size(); ++index) {
            if (!holds_[index].empty()) own->database.hold(storage::Node{index}, holds_[index]);
        }
    });
}

void Instance::tell_databases(const std::function<void(storage::Database&)>& news) {
    for (const auto& own : parts_) {
        auto& database = own->database;
        boost::asio::post(database.core().io(), [news, &database] { news(database); });
    }
}

std::string Instance::short_url_base() const {
    return config_.links.base_url.empty() ? url() : config_.links.base_url;
}

awaitable<std::shared_ptr<const links::DomainSet>> Instance::load_domains(runtime::Call& call) {
    access::Store store(parts(*call.core).database);
    const auto domains = co_await store.list_domains(call);
    const auto shared = split_url(short_url_base());
    std::vector<links::DomainFacts> facts;
    for (const auto& domain : domains) {
        const bool own = domain.project.has_value();
        facts.push_back({.id = domain.id,
                         .host = own ? domain.host : shared.authority,
                         .scheme = own ? "https" : shared.scheme,
                         .space = base::Space{static_cast<std::uint32_t>(domain.space)},
                         .project = domain.project});
    }
    co_return std::make_shared<const links::DomainSet>(std::move(facts), server_->port());
}

void Instance::prepare_links() {
    auto& core = first_core();
    auto call = core.make_call(start_limit);
    access::Store store(parts(core).database);
    const access::Domain shared{.id = base::make_uuid_v4(core.random()),
                                .host = {},
                                .space = 0,
                                .project = std::nullopt,
                                .created_at = clock_.now()};
    // Written by the first start of all; the control database may be away at every later one.
    const auto known = wait_for(core, store.list_domains(call));
    const auto is_shared = [](const access::Domain& domain) { return !domain.project; };
    if (std::ranges::none_of(known, is_shared)) wait_for(core, store.insert_domain(call, shared));
    const auto bijection =
        wait_for(core, links::load_bijection_key(call, parts(core).database, core.random()));
    const auto domains = wait_for(core, load_domains(call));
    make_links(bijection, seal_key_of(bijection), domains);
}

void Instance::make_links(const base::BijectionKey& bijection, const base::SealKey& seal,
                          std::shared_ptr<const links::DomainSet> domains) {
    links_ = std::make_unique<links::Shared>(links_options(config_), bijection, seal);
    links_->reserved = router_.reserved_segments();
    cores_.on_each([&](runtime::Core& core) {
        auto& own = parts(core);
        own.links = std::make_unique<links::Links>(core, own.database, *links_, domains);
    });
}

void Instance::add_routes() {
    router_.document_credentials(
        {access::errors::of_credentials.begin(), access::errors::of_credentials.end()});
    links::add_routes(router_, [this](const runtime::Core& core) -> links::Links& {
        return *parts_[core.index()]->links;
    });
    add_admin_routes(router_, {.dependencies = [this] { return dependencies(); },
                               .is_draining = [this] { return draining_.load(); }});
}

// Every core has connections of its own, which may be lost and found again at different moments.
awaitable<std::vector<Dependency>> Instance::dependencies() {
    std::vector<std::vector<Dependency>> by_core;
    for (std::size_t index = 0; index < cores_.size(); ++index) {
        auto& core = cores_[index];
        by_core.push_back(co_await runtime::on_core(core, dependencies_of(core)));
    }
    co_return merge_dependencies(by_core);
}

// One node of several may be away while the others serve; the last one may not.
awaitable<std::vector<Dependency>> Instance::dependencies_of(const runtime::Core& core) {
    auto& own = parts(core);
    const auto& nodes = map_->nodes();
    const auto is_up = [&](std::uint32_t index) {
        return own.database.is_up(storage::Node{index});
    };
    const auto indexes =
        std::views::iota(std::uint32_t{0}, static_cast<std::uint32_t>(nodes.size()));
    const bool any_up = std::ranges::any_of(indexes, is_up);
    std::vector<Dependency> all;
    for (const auto index : indexes) {
        all.push_back({.name = nodes.size() == 1 ? "postgres" : "postgres " + nodes[index].name,
                       .is_up = is_up(index),
                       .is_needed = nodes.size() == 1 || !any_up,
                       .why_down = own.database.why_down(storage::Node{index})});
    }
    if (nodes.size() > 1) {
        all.push_back({.name = "postgres control",
                       .is_up = own.database.is_control_up(),
                       .is_needed = false,
                       .why_down = own.database.why_control_down()});
    }
    all.push_back({.name = "redis",
                   .is_up = own.redis.is_up(),
                   .is_needed = false,
                   .why_down = own.redis.why_down()});
    co_return all;
}

awaitable<void> Instance::keep_key_uses(runtime::Call& call) {
    while (true) {
        co_await runtime::pause_for(key_uses_every);
        auto round = call.core->make_call(start_limit);
        co_await flush_key_uses(round, parts(*call.core).keys);
    }
}

awaitable<void> Instance::keep_domains(runtime::Call& call) {
    while (true) {
        co_await runtime::pause_for(domains_every);
        auto round = call.core->make_call(domains_every);
        try {
            parts(*call.core).links->set_domains(co_await load_domains(round));
        } catch (const runtime::Failure& failure) {
            // The domains known so far go on; that PostgreSQL is away is told by its room.
            runtime::log(runtime::Level::debug, "the domains were not read anew",
                         {{"reason", failure.what()}});
        }
    }
}

void Instance::start_jobs() {
    cores_.on_each([this](runtime::Core& core) {
        auto& own = parts(core);
        own.jobs.start("access.key_uses",
                       [this](runtime::Call& call) { return keep_key_uses(call); });
        own.jobs.start("links.domains", [this](runtime::Call& call) { return keep_domains(call); });
        if (core.index() != 0) return;
        auto watch = std::make_shared<NodeWatch>(
            config_, own.database, record_,
            NodeWatch::Reach{.tell = [this](const std::function<void(storage::Database&)>& news) {
                tell_databases(news);
            }});
        own.jobs.start("app.node_watch", [watch](runtime::Call&) { return watch->run(); });
        own.lease = std::make_unique<storage::ProcessLease>(own.database,
                                                            base::make_uuid_v4(core.random()));
        own.jobs.start("storage.process_lease",
                       [&own](runtime::Call&) { return own.lease->run(); });
        auto reaper = std::make_shared<storage::ClaimsReaper>(
            own.database, storage::ReapOptions{.retention = config_.idempotency.retention});
        own.jobs.start("storage.claims_reaper", [reaper](runtime::Call&) { return reaper->run(); });
    });
}

awaitable<void> Instance::close_parts(runtime::Call& call, CoreParts& parts) {
    co_await parts.jobs.stop(call.deadline);
    if (parts.links) co_await parts.links->close();
    if (parts.lease) co_await give_back(call, *parts.lease);
    co_await flush_key_uses(call, parts.keys);
    co_await parts.keys.close();
    co_await parts.redis.close(call);
    co_await parts.database.close(call);
}

awaitable<std::vector<std::string>> Instance::close_core(runtime::Core& core,
                                                         std::chrono::milliseconds limit) {
    runtime::Shutdown shutdown(core, limit);
    shutdown.add(
        {.name = fmt::format("core {}", core.index()),
         .weight = 1,
         .stop = [&own = parts(core)](runtime::Call& call) { return close_parts(call, own); }});
    co_return co_await shutdown.run();
}

std::vector<std::string> Instance::stop() {
    if (!running_) return {};
    running_ = false;
    draining_ = true;
    const auto bound = config_.process.shutdown_bound;
    const auto until = std::chrono::steady_clock::now() + bound;
    server_->drain(bound / 2);
    std::vector<std::string> late;
    for (std::size_t i = 0; i < cores_.size(); ++i) {
        if (!parts_[i]) continue;
        auto& core = cores_[i];
        const auto names = wait_for(core, close_core(core, bound / 2));
        late.insert(late.end(), names.begin(), names.end());
    }
    // Last, so that what ended above is told, too.
    if (tracing_) tracing_->stop(time_left(until));
    server_.reset();
    cores_.on_each([this](runtime::Core& core) { parts_[core.index()].reset(); });
    cores_.stop();
    return late;
}

std::string url_of(const Config& config, std::uint16_t port) {
    const auto& address = config.http.addresses.front();
    const bool is_any = address == "0.0.0.0" || address == "::";
    const bool is_v6 = address.find(':') != std::string::npos;
    const auto host = is_any ? "127.0.0.1" : is_v6 ? fmt::format("[{}]", address) : address;
    const auto scheme = config.http.tls_certificate.empty() ? "http" : "https";
    return fmt::format("{}://{}:{}", scheme, host, port);
}

std::string Instance::url() const {
    return url_of(config_, server_->port());
}

}  // namespace tenon::app
