// What can be asked of the program, declared for CLI11.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "app/colour.hpp"
#include "app/commands.hpp"

namespace tenon::app {

/// What the command line asked for; filled while CLI11 parses.
struct Asked {
    ColourChoice colour = ColourChoice::automatic;
    Sources sources;
    DevOptions dev;
    OutputForm form = OutputForm::text;
    MigrateCommand migrate;
    KeysCommand keys;
    ConfigCommand config;
    LinksLoad links;
    int overlap_hours = 24;
    std::string port;
    bool handles_signals = false;  ///< false: SIGINT and SIGTERM end it at once with exit code 130
    std::function<ExitCode()> run;
};

/// -o and --color, which every command takes.
void add_common(CLI::App& command, Asked& asked);
/// -o with `env`, too.
void add_common_with_env(CLI::App& command, Asked& asked);
/// --config, --set: where the configuration comes from.
void add_sources(CLI::App& command, Sources& sources);
/// --data of a running `tenon dev`.
void add_data(CLI::App& command, Sources& sources);

/// dev, serve: what runs until it is told to stop.
void declare_servers(CLI::App& app, Asked& asked);
/// status, stop, doctor: what looks after what runs.
void declare_care(CLI::App& app, Asked& asked);
/// migrate, keys, config: what does one thing and ends.
void declare_tools(CLI::App& app, Asked& asked);
/// size: what a load needs.
void declare_size(CLI::App& app, Asked& asked);

/// Parses the command line, runs what it asks for, and returns what main returns.
///
/// Expects: SIGINT and SIGTERM are blocked (runtime::prepare_signals), no other thread yet.
int run_command_line(int argc, char** argv);

}  // namespace tenon::app
