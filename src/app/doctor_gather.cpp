#include "app/doctor_gather.hpp"

#include <sys/resource.h>
#include <sys/statvfs.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>
#include <memory>

#include "app/instance.hpp"
#include "app/output.hpp"
#include "app/probe.hpp"
#include "base/clock.hpp"
#include "runtime/processors.hpp"
#include "storage/migrate.hpp"

namespace tenon::app {

using boost::asio::awaitable;
using namespace std::chrono_literals;

namespace {

constexpr auto redis_limit = 3s;

constexpr const char* postgres_questions = R"sql(
SELECT current_setting('server_version_num'), current_setting('fsync'),
       current_setting('full_page_writes'), current_setting('synchronous_commit'),
       current_setting('wal_level'), current_setting('server_encoding'),
       current_setting('superuser_reserved_connections'), current_user, role.rolsuper,
       pg_has_role(current_user, here.datdba, 'USAGE'),
       coalesce(NOT (inet_server_addr() <<= '127.0.0.0/8' OR inet_server_addr() = '::1'), false),
       coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false)
FROM pg_roles AS role, pg_database AS here
WHERE role.rolname = current_user AND here.datname = current_database()
)sql";

void ask_clock(storage::Session& session, PostgresFacts& facts) {
    const base::SystemClock clock;
    const auto before = clock.now();
    const auto its = session.value(
        "SELECT (extract(epoch FROM query_start) * 1000000)::bigint FROM pg_stat_activity "
        "WHERE pid = pg_backend_pid()");
    const auto round_trip = clock.now() - before;
    const base::Time there{std::chrono::microseconds(std::stoll(its))};
    facts.ahead = there - (before + round_trip / 2);
    facts.ahead_error = round_trip / 2;
}

void ask_postgres(storage::Session& session, PostgresFacts& facts) {
    const auto row = session.run(postgres_questions).at(0);
    const auto is_true = [&row](std::size_t i) { return row.at(i) == "t" || row.at(i) == "on"; };
    facts.version = std::stoi(row.at(0).value());
    facts.fsync = is_true(1);
    facts.full_page_writes = is_true(2);
    facts.synchronous_commit = row.at(3).value();
    facts.wal_level = row.at(4).value();
    facts.encoding = row.at(5).value();
    facts.reserved_connections = std::stoll(row.at(6).value());
    facts.role = row.at(7).value();
    facts.is_superuser = is_true(8);
    facts.owns_database = is_true(9);
    facts.is_remote = is_true(10);
    facts.is_encrypted = is_true(11);
    facts.locks = storage::read_lock_table(session);
    ask_clock(session, facts);
}

PostgresFacts ask_node(const storage::Map::NodeSpec& node, storage::SchemaState schema) {
    PostgresFacts facts;
    facts.node = node.name;
    facts.unreachable = in_one_line(schema.unreachable);
    facts.schema = std::move(schema);
    if (!facts.unreachable.empty()) return facts;
    try {
        storage::Session session({.node = node.name, .conninfo = node.conninfo});
        ask_postgres(session, facts);
    } catch (const runtime::Failure& failure) {
        facts.unreachable = in_one_line(failure.what());
    }
    return facts;
}

awaitable<std::optional<std::string>> ask_setting(runtime::Call& call, redis::Client& client,
                                                  const char* name) {
    const auto reply = co_await client.command(call, "", {"CONFIG", "GET", name});
    // Hosted ones refuse CONFIG, which is no fault.
    if (reply.items.size() < 2) co_return std::nullopt;
    co_return reply.items[1].text;
}

awaitable<RedisFacts> ask_redis(runtime::Call& call, redis::Client& client) {
    RedisFacts facts;
    try {
        co_await client.wait_up(call);
        const auto reply = redis::checked(co_await client.command(call, "", {"INFO"}));
        const auto& info = reply.text;
        const auto valkey = find_info(info, "valkey_version");
        facts.name = valkey.empty() ? "Redis" : "Valkey";
        facts.version = valkey.empty() ? find_info(info, "redis_version") : valkey;
        facts.bytes_max = std::atoll(find_info(info, "maxmemory").c_str());
        facts.eviction = find_info(info, "maxmemory_policy");
        facts.appends = find_info(info, "aof_enabled") == "1";
        facts.save_failed = find_info(info, "rdb_last_bgsave_status") == "err";
        facts.saves = co_await ask_setting(call, client, "save");
    } catch (const runtime::Failure& failure) {
        const auto why = client.why_down();
        facts.unreachable = why.empty() ? failure.what() : why;
    }
    co_return facts;
}

RedisFacts gather_redis(const Config& config) {
    auto options = redis_options(config);
    options.command_timeout = redis_limit;  // here a late answer is worth as much
    const base::SystemClock clock;
    runtime::Cores cores(1, clock);
    std::unique_ptr<redis::Client> client;
    cores.start();
    cores.on_each(
        [&](runtime::Core& core) { client = std::make_unique<redis::Client>(core, options); });
    auto& core = cores[0];
    auto call = core.make_call(redis_limit);
    auto facts =
        boost::asio::co_spawn(core.io(), ask_redis(call, *client), boost::asio::use_future).get();
    auto last = core.make_call(redis_limit);
    boost::asio::co_spawn(core.io(), client->close(last), boost::asio::use_future).get();
    cores.on_each([&](runtime::Core&) { client.reset(); });
    cores.stop();
    return facts;
}

MachineFacts gather_machine(const DoctorTarget& target) {
    const auto& config = target.config;
    const auto cores = config.process.cores != 0 ? config.process.cores : runtime::processors();
    MachineFacts facts;
    facts.connections_max = static_cast<std::int64_t>(config.http.connections_max);
    facts.cores = static_cast<std::int64_t>(cores);
    facts.connections_per_core = storage::writers_of(1, pool_options(config));
    facts.addresses = config.http.addresses;
    rlimit files{};
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        facts.files_max = static_cast<std::int64_t>(files.rlim_cur);
    }
    struct statvfs disk{};
    if (target.running && statvfs(target.running->data.c_str(), &disk) == 0) {
        facts.folder = target.running->data;
        facts.disk_free = static_cast<std::int64_t>(disk.f_bavail * disk.f_frsize);
        facts.disk_size = static_cast<std::int64_t>(disk.f_blocks * disk.f_frsize);
    }
    return facts;
}

ServerFacts gather_server(const DoctorTarget& target) {
    const auto url =
        target.running ? target.running->url : url_of(target.config, target.config.http.port);
    auto answer = ask(url + "/readyz");
    return {.url = url,
            .expected = target.running.has_value(),
            .status = answer.status,
            .body = std::move(answer.body),
            .why_none = std::move(answer.why_none)};
}

}  // namespace

std::string find_info(std::string_view info, std::string_view name) {
    while (!info.empty()) {
        const auto end = info.find('\n');
        auto line = info.substr(0, end);
        info.remove_prefix(end == std::string_view::npos ? info.size() : end + 1);
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (line.starts_with(name) && line.substr(name.size()).starts_with(':')) {
            return std::string(line.substr(name.size() + 1));
        }
    }
    return {};
}

DoctorFacts gather(const DoctorTarget& target) {
    DoctorFacts facts;
    const auto map = map_of(target.config);
    const auto files = all_migrations();
    auto schemas = storage::inspect_schema(map.nodes(), files);
    for (std::size_t i = 0; i < schemas.size(); ++i) {
        facts.nodes.push_back(ask_node(map.nodes()[i], std::move(schemas[i])));
    }
    facts.redis = gather_redis(target.config);
    facts.machine = gather_machine(target);
    facts.server = gather_server(target);
    return facts;
}

}  // namespace tenon::app
