#include "app/node_watch.hpp"

#include <array>
#include <system_error>
#include <utility>

#include "app/instance.hpp"
#include "app/topology.hpp"
#include "runtime/log.hpp"
#include "runtime/task_group.hpp"
#include "runtime/wait.hpp"
#include "storage/fences.hpp"
#include "storage/migrate.hpp"

namespace tenon::app {

using boost::asio::awaitable;
using postgres::Query;
using postgres::Statement;
using namespace std::chrono_literals;

namespace {

constexpr auto round_every = 1s;
constexpr auto round_limit = 5s;
/// Copies are asked for so seldom where nothing happened: whoever writes copies at once.
constexpr int rounds_between_copies = 5;

constexpr Statement read_timeline{"SELECT tenon.timeline()"};
constexpr Statement read_map_version{"SELECT map_version FROM tenon.control"};
constexpr Statement read_map_text{"SELECT tenon.map()::text"};

Query reading(const Statement& statement) {
    return {.statement = statement, .parameters = {}, .writes = false};
}

}  // namespace

std::string prepare_node(const storage::Map& map, storage::Node node, std::int32_t timeline) {
    const auto& spec = map.nodes()[node.index];
    const auto files = all_migrations();
    const std::array specs{spec};
    const auto states = storage::inspect_schema(specs, files);
    if (!states.front().unreachable.empty()) {
        throw runtime::Unavailable(states.front().unreachable, 1s);
    }
    if (auto allowed = storage::allow_serving(states.front()); !allowed) {
        return allowed.error().detail();
    }
    storage::Session session({.node = spec.name, .conninfo = spec.conninfo, .timeline = timeline});
    storage::fill_fences(session, map, node);
    return {};
}

NodeWatch::NodeWatch(const Config& config, storage::Database& database,
                     const storage::MapRecord& record, Reach reach)
    : config_(config),
      database_(database),
      map_version_(record.version),
      reach_(std::move(reach)),
      facts_(record.nodes.size()),
      thread_({.name = "node watch"}) {}

awaitable<void> NodeWatch::run() {
    while (true) {
        runtime::TaskGroup looks(database_.core().io());
        for (std::uint32_t index = 0; index < facts_.size(); ++index) {
            looks.spawn("app.look_at_node", look_at(storage::Node{index}));
        }
        looks.spawn("app.follow_map", follow_map());
        co_await looks.join_fully();
        co_await runtime::pause_for(round_every);
    }
}

void NodeWatch::hold(storage::Node node, const std::string& why) {
    auto& facts = facts_[node.index];
    if (facts.hold == why) return;
    facts.hold = why;
    const auto& name = database_.map().nodes()[node.index].name;
    if (why.empty()) {
        runtime::log(runtime::Level::info, "a node is served", {{"node", name}});
    } else {
        runtime::log(runtime::Level::error, "a node is held back", {{"node", name}, {"why", why}});
    }
}

awaitable<void> NodeWatch::look_at(storage::Node node) {
    auto& facts = facts_[node.index];
    auto call = database_.core().make_call(round_limit);
    try {
        const auto rows = co_await database_.ask_node(call, node, reading(read_timeline));
        const auto timeline = rows.value<std::int32_t>(0, 0);
        if (facts.timeline != timeline) {
            const auto why = co_await prepare(call, node, timeline);
            reach_.tell([node, why](storage::Database& database) {
                why.empty() ? database.release(node) : database.hold(node, why);
            });
            hold(node, why);
            if (!why.empty()) co_return;
            facts.timeline = timeline;
        }
        co_await copy_references(call, node);
    } catch (const runtime::Failure& failure) {
        // Away, or without the schema: its room tells of the first, and the next round of both.
        facts.rounds_until_copy = 0;
        runtime::log(
            runtime::Level::debug, "a node could not be looked at",
            {{"node", database_.map().nodes()[node.index].name}, {"reason", failure.what()}});
    }
}

awaitable<std::string> NodeWatch::prepare(runtime::Call& call, storage::Node node,
                                          std::int32_t timeline) {
    const auto map = std::make_shared<const storage::Map>(database_.map());
    return thread_.run<std::string>(
        call, [map, node, timeline] { return prepare_node(*map, node, timeline); });
}

awaitable<void> NodeWatch::copy_references(runtime::Call& call, storage::Node node) {
    auto& facts = facts_[node.index];
    if (facts.rounds_until_copy-- > 0) co_return;
    co_await database_.refresh_references(call, node);
    facts.rounds_until_copy = rounds_between_copies;
}

awaitable<void> NodeWatch::follow_map() {
    auto call = database_.core().make_call(round_limit);
    try {
        const auto now = co_await database_.ask_control(call, reading(read_map_version));
        if (now.value<std::int64_t>(0, 0) == map_version_) co_return;
        const auto text = co_await database_.ask_control(call, reading(read_map_text));
        auto record = storage::read_map(text.value<std::string>(0, 0));
        if (!record) throw runtime::Unavailable(record.error().detail(), 1s);
        override_addresses(*record, config_);
        const auto map = std::make_shared<const storage::Map>(storage::map_of(*record));
        if (!storage::names_same_nodes(*map, database_.map())) {
            throw runtime::Unavailable("the map names other nodes: restart this process", 1s);
        }
        map_version_ = record->version;
        reach_.tell([map](storage::Database& database) { database.set_map(map); });
        const auto& folder = config_.process.state_folder;
        if (!folder.empty()) {
            co_await thread_.run<void>(
                call, [folder, kept = std::move(*record)] { storage::write_map(folder, kept); });
        }
        runtime::log(runtime::Level::info, "a new map is used", {{"version", map_version_}});
    } catch (const runtime::Failure& failure) {
        runtime::log(runtime::Level::debug, "the map was not read anew",
                     {{"reason", failure.what()}});
    } catch (const std::system_error& failure) {
        runtime::log(runtime::Level::warning, "the map could not be kept on disk",
                     {{"reason", failure.what()}});
    }
}

}  // namespace tenon::app
