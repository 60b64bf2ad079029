// A running server: every part of every core, wired.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "access/keys.hpp"
#include "app/admin.hpp"
#include "app/config.hpp"
#include "app/tracing.hpp"
#include "base/clock.hpp"
#include "http/server.hpp"
#include "redis/client.hpp"
#include "runtime/core.hpp"
#include "runtime/supervisor.hpp"
#include "services/links/links.hpp"
#include "storage/database.hpp"
#include "storage/map_record.hpp"
#include "storage/migration.hpp"
#include "storage/process_lease.hpp"

namespace tenon::app {

/// The migrations of all rooms, in the order of rooms.
[[nodiscard]] std::vector<storage::Migration> all_migrations();
/// The pool of one core to one node, as configured.
[[nodiscard]] postgres::PoolOptions pool_options(
    const Config& config, std::shared_ptr<postgres::Timelines> timelines = nullptr);

/// The client of one core to Redis, as configured.
[[nodiscard]] redis::ClientOptions redis_options(const Config& config);

/// Where a server of this configuration answers on a port, such as http://127.0.0.1:8080.
[[nodiscard]] std::string url_of(const Config& config, std::uint16_t port);

/// What lives on one core; made and ended on its thread.
struct CoreParts {
    CoreParts(runtime::Core& core, const Config& config, std::shared_ptr<const storage::Map> map,
              const std::shared_ptr<postgres::Timelines>& timelines, access::KeyCache& keys);

    storage::Database database;
    redis::Client redis;
    access::Keys keys;
    std::unique_ptr<links::Links> links;           ///< once the bijection's key is known
    std::unique_ptr<storage::ProcessLease> lease;  ///< on the first core
    runtime::Supervisor jobs;
};

/// The server of one process.
///
/// Shape:   start() returns when requests are served; stop() drains and returns when all has ended.
/// Expects: a migrated schema (start checks it); created, started and stopped on the main thread.
/// Errors:  start throws CommandError with one sentence: schema, port, PostgreSQL away.
class Instance {
public:
    explicit Instance(Config config);
    ~Instance();

    void start();
    /// Within Config::process.shutdown_bound. Returns what did not end in time.
    std::vector<std::string> stop();

    /// Where the server answers, such as http://127.0.0.1:8080.
    [[nodiscard]] std::string url() const;
    [[nodiscard]] runtime::Core& first_core() { return cores_[0]; }
    [[nodiscard]] CoreParts& parts(const runtime::Core& core) { return *parts_[core.index()]; }

private:
    class CoreKeys;

    void prepare_nodes();
    void check_lock_room(const storage::Map::NodeSpec& node) const;
    void make_parts();
    void tell_databases(const std::function<void(storage::Database&)>& news);
    boost::asio::awaitable<std::vector<Dependency>> dependencies();
    boost::asio::awaitable<std::vector<Dependency>> dependencies_of(const runtime::Core& core);
    void prepare_links();
    void make_links(const base::BijectionKey& bijection, const base::SealKey& seal,
                    std::shared_ptr<const links::DomainSet> domains);
    void add_routes();
    void start_jobs();
    std::string short_url_base() const;
    boost::asio::awaitable<void> keep_key_uses(runtime::Call& call);
    boost::asio::awaitable<void> keep_domains(runtime::Call& call);
    boost::asio::awaitable<std::shared_ptr<const links::DomainSet>> load_domains(
        runtime::Call& call);
    boost::asio::awaitable<std::vector<std::string>> close_core(runtime::Core& core,
                                                                std::chrono::milliseconds limit);
    static boost::asio::awaitable<void> close_parts(runtime::Call& call, CoreParts& parts);

    const Config config_;
    base::SystemClock clock_;
    runtime::Cores cores_;
    std::unique_ptr<Tracing> tracing_;  ///< nullptr where no collector is configured
    storage::MapRecord record_;
    std::shared_ptr<const storage::Map> map_;
    std::vector<std::string> holds_;  ///< by node: why it was held back at the start
    const std::shared_ptr<postgres::Timelines> timelines_;
    access::KeyCache key_cache_;
    std::vector<std::unique_ptr<CoreParts>> parts_;  // by core
    std::unique_ptr<links::Shared> links_;
    std::unique_ptr<CoreKeys> authenticator_;
    http::Router router_;
    std::unique_ptr<http::Server> server_;
    std::atomic<bool> draining_{false};
    bool running_ = false;
};

}  // namespace tenon::app
