#include "app/dev.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>
#include <ranges>

#include "access/key_text.hpp"
#include "app/banner.hpp"
#include "app/colour.hpp"
#include "app/detach.hpp"
#include "app/free_port.hpp"
#include "app/topology.hpp"
#include "runtime/json.hpp"
#include "runtime/log.hpp"

namespace tenon::app {

using boost::asio::awaitable;
using namespace std::chrono_literals;

namespace {

constexpr const char* demo_project = "demo";
constexpr auto engine_stop_limit = 5s;
constexpr std::chrono::milliseconds revive_longest = 5s;
constexpr std::chrono::milliseconds log_look_every = 1s;

/// Makes the demo project and a key for it, unless `known` still opens it.
awaitable<std::string> find_or_make_key(CoreParts& parts, runtime::Core& core, std::string known,
                                        std::string& project_name) {
    auto call = core.make_call(10s);
    access::Store store(parts.database);
    const access::Project wanted{.id = base::make_uuid_v4(core.random()),
                                 .name = demo_project,
                                 .space = 0,
                                 .created_at = call.now};
    const auto project = co_await store.ensure_project(call, wanted);
    project_name = project.name;
    if (!known.empty()) {
        const std::vector<base::Digest> digests(1, access::digest_of_key(known));
        const auto found = co_await store.find_keys(call, digests);
        if (found.front() && access::judge_key(*found.front(), call.now)) co_return known;
    }
    auto made = co_await parts.keys.make(call, project.id, "dev", {"*"});
    if (!made) throw CommandError(made.error().detail());
    co_return std::move(made->text);
}

std::string without_line_end(std::string text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
    return text;
}

}  // namespace

Dev::Dev(DevOptions options)
    : options_(std::move(options)), folder_(DataFolder::open(options_.data)), redis_(folder_) {
    if (options_.detach) log_.emplace(log_of(folder_.path()));
    make_clusters();
}

Dev::~Dev() {
    // A start that failed half-way leaves engines behind, which end in order here.
    instance_.reset();
    stop_engines();
}

// Decided at the first start and kept in a file, so that one cut off half-way goes on as it began.
std::size_t Dev::shards() const {
    const auto kept = read_file(folder_.shards_file());
    const bool is_new = !std::filesystem::exists(folder_.engines() / "postgres");
    if (!kept && is_new) return std::max<std::size_t>(options_.shards, 1);
    const auto made = kept ? std::strtoul(kept->c_str(), nullptr, 10) : 1;
    if (options_.shards != 0 && options_.shards != made) {
        throw CommandError(fmt::format(
            "{} was made with --shards {}: leave --shards out, or start with another folder by "
            "--data",
            folder_.path().string(), made));
    }
    return made;
}

void Dev::make_clusters() {
    const auto total = shards();
    if (!read_file(folder_.shards_file())) {
        write_file(folder_.shards_file(), fmt::format("{}\n", total));
    }
    clusters_.emplace_back(folder_, PrivatePostgres::Options{});
    // One shard is the control database's own; several leave it to be nothing else.
    for (std::size_t shard = 1; total > 1 && shard <= total; ++shard) {
        clusters_.emplace_back(folder_,
                               PrivatePostgres::Options{.name = fmt::format("node-{}", shard),
                                                        .port = 5432 + static_cast<int>(shard)});
    }
}

std::string Dev::nodes_text() const {
    std::string text;
    for (const auto& cluster : clusters_ | std::views::drop(1)) {
        text += fmt::format("{}: {}; ", cluster.name(), cluster.conninfo());
    }
    return text;
}

void Dev::stop_engines() {
    redis_.stop(engine_stop_limit);
    for (auto& cluster : clusters_) cluster.stop(engine_stop_limit);
}

Config Dev::make_config() const {
    Config config;
    config.postgres.conninfo = runtime::Secret(clusters_.front().conninfo());
    config.postgres.nodes = runtime::Secret(nodes_text());
    config.redis.address = redis_.address();
    config.process.cores = options_.cores;
    config.process.state_folder = folder_.path().string();
    config.http.port =
        options_.port ? *options_.port : find_free_port(config.http.addresses, config.http.port);
    return config;
}

void Dev::migrate(const Config& config) const {
    const auto migrated = migrate_all(config);
    if (!migrated) throw CommandError(migrated.error().detail());
}

void Dev::start() {
    const auto began = std::chrono::steady_clock::now();
    check_port(Config{}.http.addresses, options_.port.value_or(0));
    std::error_code ignored;
    std::filesystem::remove(folder_.run_file(), ignored);
    for (auto& cluster : clusters_) cluster.start();
    redis_.start();
    start_instance();
    ensure_key();
    write_state();
    announce(std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - began));
}

void Dev::start_instance() {
    const auto config = make_config();
    migrate(config);
    instance_ = std::make_unique<Instance>(config);
    instance_->start();
}

void Dev::ensure_key() {
    auto known = without_line_end(read_file(folder_.key_file()).value_or(""));
    auto& core = instance_->first_core();
    state_.key =
        boost::asio::co_spawn(core.io(),
                              find_or_make_key(instance_->parts(core), core, known, state_.project),
                              boost::asio::use_future)
            .get();
    if (state_.key != known) write_file(folder_.key_file(), state_.key + "\n");
}

void Dev::write_state() {
    state_.pid = getpid();
    state_.url = instance_->url();
    state_.data = folder_.path().string();
    state_.postgres = clusters_.front().conninfo();
    state_.nodes = nodes_text();
    state_.redis = redis_.address();
    write_file(folder_.run_file(), runtime::to_json(state_) + "\n");
    if (options_.ready_file.empty()) return;
    write_file(options_.ready_file,
               fmt::format("{{\"url\":\"{}\",\"key\":\"{}\"}}\n", state_.url, state_.key));
}

void Dev::announce(std::chrono::milliseconds took) const {
    print_item(options_.form, status_of(state_, true), [&](const auto&) {
        return banner({.state = state_, .engines = folder_.engines(), .took = took});
    });
}

template <class Engine>
void Dev::revive(Engine& engine) {
    runtime::log(runtime::Level::warning, "a private engine ended and is started again",
                 {{"engine", engine.name()}, {"how", engine.how_it_ended()}});
    try {
        engine.start();
        pause_ = revive_first;
    } catch (const CommandError& error) {
        // A full disk or a recovery that was cut off may be mended while the rest goes on.
        runtime::log(runtime::Level::error, "a private engine does not start",
                     {{"engine", engine.name()}, {"reason", error.what()}});
        retry_at_ = std::chrono::steady_clock::now() + pause_;
        pause_ = std::min(pause_ * 2, revive_longest);
    }
}

void Dev::revive_ended_engines() {
    if (std::chrono::steady_clock::now() < retry_at_) return;
    for (auto& cluster : clusters_) {
        if (cluster.has_ended()) revive(cluster);
    }
    if (redis_.has_ended()) revive(redis_);
}

std::vector<int> Dev::running_engines() {
    std::vector<int> engines;
    for (auto& cluster : clusters_) {
        if (!cluster.has_ended()) engines.push_back(cluster.descriptor());
    }
    if (!redis_.has_ended()) engines.push_back(redis_.descriptor());
    return engines;
}

void Dev::watch(const StopEvent& stop) {
    while (true) {
        const auto engines = running_engines();
        const bool all_run = engines.size() == clusters_.size() + 1;
        const auto calm = log_ ? log_look_every : std::chrono::milliseconds(1min);
        if (stop.wait_or(engines, all_run ? calm : std::min(calm, pause_))) return;
        if (log_) log_->turn(std::array{STDOUT_FILENO, STDERR_FILENO});
        revive_ended_engines();
    }
}

bool Dev::stop() {
    std::error_code ignored;
    std::filesystem::remove(folder_.run_file(), ignored);
    const auto late = instance_ ? instance_->stop() : std::vector<std::string>{};
    for (const auto& name : late) {
        runtime::log(runtime::Level::warning, "did not end in time", {{"what", name}});
    }
    instance_.reset();
    stop_engines();
    return late.empty();
}

namespace {

runtime::LogOptions log_options(const DevOptions& options) {
    runtime::LogOptions logging{.level = runtime::Level::warning};
    for (const auto level : {runtime::Level::debug, runtime::Level::info, runtime::Level::warning,
                             runtime::Level::error}) {
        if (runtime::name_of(level) == options.log_level) logging.level = level;
    }
    logging.coloured = is_coloured(stderr);
    return logging;
}

}  // namespace

ExitCode run_dev(DevOptions options) {
    if (options.detach) {
        if (const auto code = detach(options)) return *code;
        options.form = OutputForm::none;  // the one that waits tells it
    }
    runtime::start_logging(log_options(options));
    StopEvent stop;
    Dev dev(std::move(options));
    dev.start();
    dev.watch(stop);
    const bool clean = dev.stop();
    runtime::stop_logging();
    return clean ? ExitCode::ok : ExitCode::failed;
}

}  // namespace tenon::app
