// A Database on a core that a test turns, over databases of its own.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/test_core.hpp"
#include "storage/database.hpp"
#include "storage/fences.hpp"
#include "storage/test_database.hpp"

namespace tenon::storage {

/// One or more nodes with the given migrations and filled fences, and a Database over them that is
/// closed when the test ends.
class TestStore {
public:
    explicit TestStore(std::span<const Migration> files, std::size_t nodes = 1,
                       postgres::PoolOptions options = {}, ControlOptions control = {},
                       ReadOptions reads = {})
        : nodes(nodes) {
        for (const TestDatabase& node : this->nodes) {
            node.migrate(files);
        }
        map = std::make_shared<const Map>(Map::spread(specs()));
        fill_fences(*map);
        database = std::make_unique<Database>(host.core, map, options, std::move(control), reads);
    }
    ~TestStore() {
        runtime::Call call = host.call(std::chrono::seconds(10));
        host.run(database->close(call));
    }

    /// Runs one statement by hand on a node, outside of the Database.
    std::string value(const std::string& sql, std::size_t node = 0) {
        return nodes[node].connect().value(sql);
    }
    void script(const std::string& sql, std::size_t node = 0) { nodes[node].connect().run(sql); }

    /// Turns the core until at least so many statements on a node wait for a lock.
    void turn_until_blocked(std::size_t node = 0, int waiters = 1) {
        auto watcher = nodes[node].connect();
        while (std::stoi(watcher.value("SELECT count(*) FROM pg_stat_activity WHERE "
                                       "wait_event_type = 'Lock' AND datname = "
                                       "current_database()")) < waiters) {
            host.turn();
            watcher.idle(std::chrono::milliseconds(1));
        }
    }

    runtime::TestCore host;
    std::vector<TestDatabase> nodes;
    std::shared_ptr<const Map> map;
    std::unique_ptr<Database> database;

private:
    [[nodiscard]] std::vector<Map::NodeSpec> specs() const {
        std::vector<Map::NodeSpec> specs;
        for (const TestDatabase& node : nodes) {
            specs.push_back(node.node());
        }
        return specs;
    }
};

}  // namespace tenon::storage
