#include "app/command_line.hpp"

#include <unistd.h>

#include <exception>
#include <optional>

#include "app/data_folder.hpp"
#include "app/usage.hpp"
#include "app/version.hpp"
#include "runtime/failure.hpp"
#include "runtime/log.hpp"
#include "runtime/shutdown.hpp"

namespace tenon::app {

namespace {

using Forms = std::vector<std::pair<std::string_view, OutputForm>>;

const Forms forms{{"text", OutputForm::text},
                  {"json", OutputForm::json},
                  {"jsonl", OutputForm::jsonl},
                  {"none", OutputForm::none}};

void add_colour(CLI::App& command, Asked& asked) {
    add_choice<ColourChoice>(command, "--color",
                             {{"auto", ColourChoice::automatic},
                              {"always", ColourChoice::always},
                              {"never", ColourChoice::never}},
                             asked.colour,
                             "auto, always or never (default auto: in a terminal without NO_COLOR)",
                             "WHEN");
}

/// Commands that end by themselves are ended at once: what they began in a database is rolled back
/// there when their connections close.
void end_interrupted(int) {
    complain("interrupted");
    ::_exit(to_int(ExitCode::interrupted));
}

int run_asked(const Asked& asked) {
    std::optional<runtime::StopSignals> interrupt;
    if (!asked.handles_signals) {
        interrupt.emplace(end_interrupted);
        // Such a command says itself what went wrong; who connects to what is of no use here.
        runtime::start_logging({.level = runtime::Level::error, .asynchronous = false});
    }
    try {
        return to_int(asked.run());
    } catch (const runtime::Unavailable& away) {
        complain(away.what());
        return to_int(ExitCode::not_ready);
    } catch (const std::exception& error) {
        complain(error.what());
    }
    return to_int(ExitCode::failed);
}

}  // namespace

void add_common(CLI::App& command, Asked& asked) {
    add_choice(command, "-o,--output", forms, asked.form, "text, json, jsonl or none", "FORM");
    add_colour(command, asked);
}

void add_common_with_env(CLI::App& command, Asked& asked) {
    auto more = forms;
    more.emplace_back("env", OutputForm::env);
    add_choice(command, "-o,--output", more, asked.form, "text, json, jsonl, none or env", "FORM");
    add_colour(command, asked);
}

void add_sources(CLI::App& command, Sources& sources) {
    const auto take = [&sources](const std::vector<std::string>& settings) {
        for (const auto& setting : settings) {
            const auto equals = setting.find('=');
            if (equals == std::string::npos) {
                throw CLI::ValidationError("--set", "'" + setting + "' has no '='");
            }
            sources.flags.push_back({.flag = "--set",
                                     .path = setting.substr(0, equals),
                                     .value = setting.substr(equals + 1)});
        }
    };
    command.add_option("--config", sources.config_file, "TOML file; TENON_CONFIG names one, too")
        ->option_text("FILE");
    command
        .add_option_function<std::vector<std::string>>(
            "--set", take, "one option, such as http.port=8090; wins over file and environment")
        ->allow_extra_args(false)
        ->option_text("PATH=VALUE");
}

void add_data(CLI::App& command, Sources& sources) {
    const auto take = [&sources](const std::string& folder) {
        sources.data = folder;
        sources.data_given = true;
    };
    command
        .add_option_function<std::string>("--data", take,
                                          "data folder of a running `tenon dev` (default ./.tenon)")
        ->option_text("DIR");
}

int run_command_line(int argc, char** argv) {
    Asked asked;
    CLI::App app{"Tenon: the services that every product backend ends up building, in one server."};
    app.name("tenon");
    app.require_subcommand(1);
    app.set_help_flag("-h,--help", "explains the command");
    app.set_version_flag("--version", std::string("tenon ") + version, "says which release it is");
    declare_servers(app, asked);
    declare_care(app, asked);
    declare_tools(app, asked);
    declare_size(app, asked);
    app.footer(exit_code_help());  // after the commands, which would take it over
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& wanted) {
        return app.exit(wanted);
    } catch (const CLI::ParseError& error) {
        choose_colours(asked.colour);
        complain(explain_usage(app, error));
        return to_int(ExitCode::usage);
    }
    choose_colours(asked.colour);
    return run_asked(asked);
}

}  // namespace tenon::app
