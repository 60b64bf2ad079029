// What a running `tenon dev` tells other terminals: FOLDER/run.json.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace tenon::app {

/// Written when requests are served, removed at an orderly end.
struct RunState {
    std::int64_t pid = 0;
    std::string url;
    std::string key;
    std::string project;
    std::string data;
    std::string postgres;  ///< conninfo of the control database
    std::string nodes;     ///< as postgres.nodes; empty when the control database is the only one
    std::string redis;     ///< address
};
BOOST_DESCRIBE_STRUCT(RunState, (), (pid, url, key, project, data, postgres, nodes, redis))

/// The state of a `tenon dev` that is alive; nullopt when none is, whatever file a crash left.
[[nodiscard]] std::optional<RunState> find_running(const std::filesystem::path& data);

}  // namespace tenon::app
