#include "app/instance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>

#include "app/admin.hpp"
#include "app/data_folder.hpp"
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
            .header_bytes_max = config.http.header_bytes_max,
            .body_bytes_max = config.http.body_bytes_max,
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

storage::Map map_of(const Config& config) {
    return storage::Map::spread({{.name = "main", .conninfo = config.postgres.conninfo.reveal()}});
}

postgres::PoolOptions pool_options(const Config& config) {
    return {.conninfo = config.postgres.conninfo.reveal(),
            .multiplexed = config.postgres.multiplexed,
            .exclusive_max = config.postgres.exclusive_max,
            .connect_timeout = config.postgres.connect_timeout,
            .statement_timeout = config.postgres.statement_timeout,
            .lock_timeout = config.postgres.lock_timeout};
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
                     std::shared_ptr<const storage::Map> map, access::KeyCache& key_cache)
    : database(core, std::move(map), pool_options(config)),
      redis(core, redis_options(config)),
      keys(core, database, key_cache),
      jobs(core) {}

Instance::Instance(Config config)
    : config_(std::move(config)),
      cores_(config_.process.cores, clock_),
      map_(std::make_shared<const storage::Map>(map_of(config_))),
      key_cache_({.bytes_max = 8 << 20, .ttl = 5s, .negative_ttl = 1s, .seed = std::nullopt}),
      authenticator_(std::make_unique<CoreKeys>(*this)) {}

Instance::~Instance() {
    if (running_) stop();
}

void Instance::start() {
    check_schema();
    add_routes();
    server_ =
        std::make_unique<http::Server>(cores_, router_, *authenticator_, server_options(config_));
    server_->listen();
    cores_.start();
    running_ = true;
    make_parts();
    prepare_links();
    start_jobs();
    server_->start();
}

void Instance::check_schema() const {
    const auto files = all_migrations();
    const auto checked = storage::check_schema(map_->nodes(), files);
    if (!checked) throw CommandError(checked.error().detail());
    storage::fill_fences(*map_);
    const auto writers = storage::writers_of(cores_.size(), pool_options(config_));
    for (const auto& node : map_->nodes()) {
        storage::Session session({.node = node.name, .conninfo = node.conninfo});
        const auto room = storage::check_lock_room(storage::read_lock_table(session), writers);
        if (room) continue;
        // Only a moment with every writer in every bucket needs all of it; it must be known,
        // though.
        runtime::log(runtime::Level::warning, "the lock table is small for this many writers",
                     {{"node", node.name}, {"mend", room.error().detail()}});
    }
}

void Instance::make_parts() {
    parts_.resize(cores_.size());
    cores_.on_each([this](runtime::Core& core) {
        parts_[core.index()] = std::make_unique<CoreParts>(core, config_, map_, key_cache_);
    });
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
    wait_for(core, store.insert_domain(call, shared));
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
    links::add_routes(router_, [this](const runtime::Core& core) -> links::Links& {
        return *parts_[core.index()]->links;
    });
    const auto dependencies = [this](const runtime::Core& core) {
        auto& own = parts(core);
        return std::vector<Dependency>{{.name = "postgres",
                                        .is_up = own.database.is_up(),
                                        .is_needed = true,
                                        .why_down = own.database.why_down()},
                                       {.name = "redis",
                                        .is_up = own.redis.is_up(),
                                        .is_needed = false,
                                        .why_down = own.redis.why_down()}};
    };
    add_admin_routes(router_, {.dependencies = dependencies,
                               .is_draining = [this] { return draining_.load(); }});
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
        auto reaper = std::make_shared<storage::ClaimsReaper>(
            own.database, storage::ReapOptions{.retention = config_.idempotency.retention});
        own.jobs.start("storage.claims_reaper", [reaper](runtime::Call&) { return reaper->run(); });
    });
}

awaitable<void> Instance::close_parts(runtime::Call& call, CoreParts& parts) {
    co_await parts.jobs.stop(call.deadline);
    if (parts.links) co_await parts.links->close();
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
    server_->drain(bound / 2);
    std::vector<std::string> late;
    for (std::size_t i = 0; i < cores_.size(); ++i) {
        if (!parts_[i]) continue;
        auto& core = cores_[i];
        const auto names = wait_for(core, close_core(core, bound / 2));
        late.insert(late.end(), names.begin(), names.end());
    }
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
    return fmt::format("http://{}:{}", host, port);
}

std::string Instance::url() const {
    return url_of(config_, server_->port());
}

}  // namespace tenon::app
