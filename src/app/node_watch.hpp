// What a process knows of its nodes and its map, kept right while it runs.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/config.hpp"
#include "runtime/blocking_thread.hpp"
#include "storage/database.hpp"
#include "storage/map_record.hpp"

namespace tenon::app {

/// Looks at every node once a second, and at the map.
///
/// Shape:   a node that comes up, or comes up on a new timeline, is held back until its schema and
///          its fences are right; its copies of reference tables are brought up to date. A new
///          version of the map goes to all cores and to the state folder.
/// Threads: run() on the core of `database`; what it learns goes to all cores by `tell`.
/// Errors:  none leaves: what fails is logged when it changes and tried again.
class NodeWatch {
public:
    /// How it reaches every core.
    struct Reach {
        std::function<void(std::function<void(storage::Database&)>)> tell;
    };
    NodeWatch(const Config& config, storage::Database& database, const storage::MapRecord& record,
              Reach reach);

    boost::asio::awaitable<void> run();

private:
    /// What is known of one node.
    struct Facts {
        std::optional<std::int32_t> timeline;  ///< on which it was found right
        std::string hold;                      ///< why it is held; empty when it is not
        int rounds_until_copy = 0;
    };

    boost::asio::awaitable<void> look_at(storage::Node node);
    boost::asio::awaitable<std::string> prepare(runtime::Call& call, storage::Node node,
                                                std::int32_t timeline);
    boost::asio::awaitable<void> copy_references(runtime::Call& call, storage::Node node);
    boost::asio::awaitable<void> follow_map();
    void hold(storage::Node node, const std::string& why);

    const Config config_;
    storage::Database& database_;
    std::int64_t map_version_;
    const Reach reach_;
    std::vector<Facts> facts_;  ///< by node
    runtime::BlockingThread thread_;
};

/// Sees that a node has this program's schema and the map's fences; empty when it is so, else why
/// it must be held back. With a `timeline`, it is the host on that one that is seen to, though
/// another may come first and still be up.
///
/// Expects: not on a core's thread.
/// Errors:  throws Unavailable when the node is away.
[[nodiscard]] std::string prepare_node(const storage::Map& map, storage::Node node,
                                       std::int32_t timeline = 0);

}  // namespace tenon::app
