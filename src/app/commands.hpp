// The commands of the program.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/config.hpp"
#include "app/output.hpp"
#include "app/size.hpp"
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
    std::string log_level = "warning";
    bool detach = false;  ///< in a session of its own; see detach.hpp
    OutputForm form = OutputForm::text;
};

/// Everything on this machine until a signal; see docs/operations.md.
ExitCode run_dev(DevOptions options);
/// The server alone, on engines that the configuration names; prints its address when it serves.
ExitCode run_serve(const Sources& sources, OutputForm form);

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
    std::string id;  ///< of rotate and revoke: an id, or a name
    std::vector<std::string> scopes{"*"};
    std::chrono::hours overlap{24};
    OutputForm form = OutputForm::text;
};
/// Makes, lists, rotates or revokes keys in the database, whether a server runs or not.
ExitCode run_keys(const Sources& sources, const KeysCommand& command);

/// Tells what runs in a data folder; ExitCode::not_ready when nothing does, unauthenticated when it
/// does not accept the folder's key any more.
ExitCode run_status(const std::filesystem::path& data, OutputForm form);
/// Ends what runs in a data folder and returns when it has ended, engines included.
ExitCode run_stop(const std::filesystem::path& data, OutputForm form);

/// Checks a deployment; ExitCode::check_failed when something does not work or loses data.
ExitCode run_doctor(const Sources& sources, OutputForm form);

/// Prints what a load of short links needs.
ExitCode run_size_links(const LinksLoad& load, OutputForm form);

/// What `tenon config` takes.
struct ConfigCommand {
    enum class Action { show, defaults, check, docs };
    Action action = Action::show;
    OutputForm form = OutputForm::text;
};
/// Shows, checks or documents the configuration.
ExitCode run_config(const Sources& sources, const ConfigCommand& command);

}  // namespace tenon::app
