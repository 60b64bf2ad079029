// The commands of the program.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/config.hpp"
#include "app/output.hpp"
#include "runtime/config.hpp"

namespace tenon::app {

/// What all commands that reach a deployment take: where its configuration comes from.
struct Sources {
    std::string config_file;                ///< empty: TENON_CONFIG's, else none
    std::filesystem::path data = ".tenon";  ///< of `tenon dev`; used when it is running
    bool data_given = false;
    std::vector<runtime::ConfigFlag> flags;
};

/// The configuration of `serve`, `migrate`, `keys` and `config`.
[[nodiscard]] base::Result<runtime::LoadedConfig<Config>> load(const Sources& sources);
/// The same, but a running `tenon dev` in the data folder gives the engines' addresses when neither
/// file, environment nor flags name them.
[[nodiscard]] base::Result<Config> load_for_tools(const Sources& sources);

/// What `tenon dev` takes.
struct DevOptions {
    std::filesystem::path data = ".tenon";
    std::optional<std::uint16_t> port;  ///< nullopt: 8080, or the next free one
    std::filesystem::path ready_file;   ///< empty: none
    std::size_t cores = 0;
    std::size_t shards = 0;  ///< 0: as the data folder has it, one in a new one
    std::string log_level = "warning";
};

/// Everything on this machine until a signal; see docs/operations.md.
ExitCode run_dev(const DevOptions& options);
/// The server alone, on engines that the configuration names.
ExitCode run_serve(const Sources& sources);

/// What `tenon migrate` and `tenon migrate plan` take.
struct MigrateCommand {
    bool plan = false;
    OutputForm form = OutputForm::text;
};
/// Applies what is pending, or lists it and changes nothing.
ExitCode run_migrate(const Sources& sources, const MigrateCommand& command);

/// What `tenon keys` takes; which members count depends on the action.
struct KeysCommand {
    enum class Action { make, list, rotate, revoke };
    Action action = Action::list;
    std::string project = "demo";
    std::string name;
    std::string id;
    std::vector<std::string> scopes{"*"};
    std::chrono::hours overlap{24};
    OutputForm form = OutputForm::text;
};
/// Makes, lists, rotates or revokes keys in the database, whether a server runs or not.
ExitCode run_keys(const Sources& sources, const KeysCommand& command);

/// What `tenon status` takes.
struct StatusCommand {
    enum class Form { text, json, env, none };
    Form form = Form::text;
};
/// Tells what runs in a data folder; ExitCode::not_ready when nothing does.
ExitCode run_status(const std::filesystem::path& data, const StatusCommand& command);

/// What `tenon config` takes.
struct ConfigCommand {
    enum class Action { show, defaults, check, docs };
    Action action = Action::show;
    OutputForm form = OutputForm::text;
};
/// Shows, checks or documents the configuration.
ExitCode run_config(const Sources& sources, const ConfigCommand& command);

}  // namespace tenon::app
