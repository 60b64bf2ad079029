// What a running `tenon dev` tells other terminals: FOLDER/run.json.
#pragma once

#include <sys/types.h>

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
    std::string postgres;  ///< conninfo
    std::string redis;     ///< address
};
BOOST_DESCRIBE_STRUCT(RunState, (), (pid, url, key, project, data, postgres, redis))

/// What `status -o json` and a started `dev -o json` print.
struct Status {
    bool ready = false;
    std::string url;
    std::string key;
    std::string project;
    std::string data;
    std::int64_t pid = 0;
};
BOOST_DESCRIBE_STRUCT(Status, (), (ready, url, key, project, data, pid))

/// What may be told of a running one.
[[nodiscard]] Status status_of(const RunState& state, bool ready);

/// The state of a `tenon dev` that is alive; nullopt when none is, whatever file a crash left.
[[nodiscard]] std::optional<RunState> find_running(const std::filesystem::path& data);

/// True when a process owns the folder, whether it serves yet or not.
[[nodiscard]] bool is_owned(const std::filesystem::path& data);
/// The process that owns the folder: the lock file names it, and it holds that file open; 0 when
/// there is none or it cannot be known.
[[nodiscard]] pid_t find_owner(const std::filesystem::path& data);

}  // namespace tenon::app
