// Reads the command line and runs one command.
#include <CLI/CLI.hpp>
#include <cstdlib>
#include <exception>

#include "app/commands.hpp"
#include "app/data_folder.hpp"
#include "app/version.hpp"
#include "runtime/failure.hpp"
#include "runtime/shutdown.hpp"

namespace tenon::app {
namespace {

constexpr const char* exit_codes =
    "Exit codes: 0 ok, 1 failed, 2 usage, 3 a check failed, 4 not authenticated,\n"
    "            5 not ready, 130 interrupted.\n"
    "Data goes to standard output, everything else to standard error.";

/// What the command line asked for; filled while CLI11 parses.
struct Asked {
    Sources sources;
    DevOptions dev;
    MigrateCommand migrate;
    KeysCommand keys;
    StatusCommand status;
    ConfigCommand config;
    int overlap_hours = 24;
    std::string port;
    std::function<ExitCode()> run;
};

const std::map<std::string, OutputForm> output_forms{{"text", OutputForm::text},
                                                     {"json", OutputForm::json},
                                                     {"jsonl", OutputForm::jsonl},
                                                     {"none", OutputForm::none}};
const std::map<std::string, StatusCommand::Form> status_forms{{"text", StatusCommand::Form::text},
                                                              {"json", StatusCommand::Form::json},
                                                              {"env", StatusCommand::Form::env},
                                                              {"none", StatusCommand::Form::none}};

void add_output(CLI::App& command, OutputForm& form) {
    command.add_option("-o,--output", form, "text, json, jsonl or none")
        ->transform(CLI::CheckedTransformer(output_forms, CLI::ignore_case))
        ->option_text("FORM");
}

void add_sources(CLI::App& command, Sources& sources) {
    command.add_option("--config", sources.config_file, "TOML file; TENON_CONFIG names one, too")
        ->option_text("FILE");
    command
        .add_option_function<std::vector<std::string>>(
            "--set",
            [&sources](const std::vector<std::string>& settings) {
                for (const auto& setting : settings) {
                    const auto equals = setting.find('=');
                    if (equals == std::string::npos) {
                        throw CLI::ValidationError("--set", setting + " has no '='");
                    }
                    sources.flags.push_back({.flag = "--set",
                                             .path = setting.substr(0, equals),
                                             .value = setting.substr(equals + 1)});
                }
            },
            "one option, such as http.port=8090; wins over file and environment")
        ->allow_extra_args(false)
        ->option_text("PATH=VALUE");
}

void add_data(CLI::App& command, Sources& sources) {
    command
        .add_option_function<std::string>(
            "--data",
            [&sources](const std::string& folder) {
                sources.data = folder;
                sources.data_given = true;
            },
            "data folder of a running `tenon dev` (default ./.tenon)")
        ->option_text("DIR");
}

void add_dev(CLI::App& app, Asked& asked) {
    auto* dev = app.add_subcommand(
        "dev", "Everything on this machine: private PostgreSQL and Redis, a project and its key");
    dev->add_option("--data", asked.dev.data, "where everything lies (default ./.tenon)")
        ->option_text("DIR");
    dev->add_option("--port", asked.port,
                    "HTTP port; without it 8080 or the next free one; 0 for any free one")
        ->check(CLI::Range(0, 65'535))
        ->option_text("PORT");
    dev->add_option("--ready-file", asked.dev.ready_file,
                    "written once requests are served: {\"url\": ..., \"key\": ...}")
        ->option_text("FILE");
    dev->add_option("--cores", asked.dev.cores, "threads that serve (default: one per processor)")
        ->check(CLI::Range(0, 256))
        ->option_text("N");
    dev->add_option("--shards", asked.dev.shards,
                    "PostgreSQL nodes in a new data folder, beside one for the control database")
        ->check(CLI::Range(1, 16))
        ->option_text("N");
    dev->add_option("--log-level", asked.dev.log_level, "debug, info, warning or error")
        ->check(CLI::IsMember({"debug", "info", "warning", "error"}))
        ->option_text("LEVEL");
    dev->footer("Examples:\n  tenon dev\n  tenon dev --port 8090 --data /tmp/tenon-demo");
    dev->callback([&asked] {
        if (!asked.port.empty()) {
            asked.dev.port = static_cast<std::uint16_t>(std::stoi(asked.port));
        }
        asked.run = [&asked] { return run_dev(asked.dev); };
    });
}

void add_serve(CLI::App& app, Asked& asked) {
    auto* serve =
        app.add_subcommand("serve", "The server, on engines that the configuration names");
    add_sources(*serve, asked.sources);
    serve->footer(
        "Examples:\n  tenon serve --config /etc/tenon.toml\n"
        "  TENON_POSTGRES_CONNINFO='host=db user=tenon' tenon serve");
    serve->callback([&asked] { asked.run = [&asked] { return run_serve(asked.sources); }; });
}

void add_migrate(CLI::App& app, Asked& asked) {
    auto* migrate = app.add_subcommand("migrate", "Brings the schema to what this program expects");
    add_sources(*migrate, asked.sources);
    add_data(*migrate, asked.sources);
    add_output(*migrate, asked.migrate.form);
    auto* plan =
        migrate->add_subcommand("plan", "Lists pending files with locks and rows; changes nothing");
    add_sources(*plan, asked.sources);
    add_data(*plan, asked.sources);
    add_output(*plan, asked.migrate.form);
    plan->callback([&asked] { asked.migrate.plan = true; });
    migrate->callback(
        [&asked] { asked.run = [&asked] { return run_migrate(asked.sources, asked.migrate); }; });
}

CLI::App* add_keys_action(CLI::App& keys, Asked& asked, const char* name, const char* meaning,
                          KeysCommand::Action action) {
    auto* command = keys.add_subcommand(name, meaning);
    add_sources(*command, asked.sources);
    add_data(*command, asked.sources);
    add_output(*command, asked.keys.form);
    command->callback([&asked, action] {
        asked.keys.action = action;
        asked.keys.overlap = std::chrono::hours(asked.overlap_hours);
        asked.run = [&asked] { return run_keys(asked.sources, asked.keys); };
    });
    return command;
}

void add_keys(CLI::App& app, Asked& asked) {
    auto* keys = app.add_subcommand("keys", "API keys: make, list, rotate, revoke");
    keys->require_subcommand(1);
    auto* make = add_keys_action(*keys, asked, "make", "Makes a key and shows it this once",
                                 KeysCommand::Action::make);
    make->add_option("name", asked.keys.name, "what it is for")->required();
    make->add_option("--scope", asked.keys.scopes,
                     "a right, such as links:write; repeatable; "
                     "default * (all)")
        ->option_text("SCOPE");
    auto* list = add_keys_action(*keys, asked, "list", "Lists the project's keys, not their texts",
                                 KeysCommand::Action::list);
    for (auto* command : {make, list}) {
        command->add_option("--project", asked.keys.project, "the project's name (default demo)")
            ->option_text("NAME");
    }
    auto* rotate =
        add_keys_action(*keys, asked, "rotate",
                        "Makes a key of the same rights; the old one goes on for the overlap",
                        KeysCommand::Action::rotate);
    rotate->add_option("id", asked.keys.id, "key_... as `keys list` shows it")->required();
    rotate->add_option("--overlap", asked.overlap_hours, "hours (default 24)")
        ->check(CLI::Range(0, 24 * 365))
        ->option_text("HOURS");
    auto* revoke = add_keys_action(*keys, asked, "revoke", "Ends a key within seconds",
                                   KeysCommand::Action::revoke);
    revoke->add_option("id", asked.keys.id, "key_... as `keys list` shows it")->required();
}

void add_status(CLI::App& app, Asked& asked) {
    auto* status = app.add_subcommand("status", "What runs in a data folder, from any terminal");
    status->add_option("--data", asked.sources.data, "data folder (default ./.tenon)")
        ->option_text("DIR");
    status->add_option("-o,--output", asked.status.form, "text, json, env or none")
        ->transform(CLI::CheckedTransformer(status_forms, CLI::ignore_case))
        ->option_text("FORM");
    status->footer("Examples:\n  tenon status\n  eval \"$(tenon status -o env)\"");
    status->callback([&asked] {
        asked.run = [&asked] { return run_status(asked.sources.data, asked.status); };
    });
}

void add_config(CLI::App& app, Asked& asked) {
    auto* config = app.add_subcommand("config", "What is configured, by whom, and what could be");
    config->require_subcommand(1);
    const std::tuple<const char*, const char*, ConfigCommand::Action> actions[] = {
        {"show", "Every value in force with its origin; secrets masked",
         ConfigCommand::Action::show},
        {"default", "A TOML file with every option at its default",
         ConfigCommand::Action::defaults},
        {"check", "Says what is wrong with the configuration; exit 3 when something is",
         ConfigCommand::Action::check},
        {"docs", "The reference of all options, in Markdown", ConfigCommand::Action::docs}};
    for (const auto& [name, meaning, action] : actions) {
        auto* command = config->add_subcommand(name, meaning);
        add_sources(*command, asked.sources);
        add_output(*command, asked.config.form);
        command->callback([&asked, action] {
            asked.config.action = action;
            asked.run = [&asked] { return run_config(asked.sources, asked.config); };
        });
    }
}

int run_command(const Asked& asked) {
    try {
        return to_int(asked.run());
    } catch (const CommandError& error) {
        complain(error.what());
    } catch (const runtime::Failure& failure) {
        complain(failure.what());
    } catch (const std::exception& error) {
        complain(error.what());
    }
    return to_int(ExitCode::failed);
}

}  // namespace
}  // namespace tenon::app

int main(int argc, char** argv) {
    using namespace tenon::app;
    tenon::runtime::prepare_signals();
    Asked asked;
    CLI::App app{"Tenon: the services that every product backend ends up building, in one server."};
    app.name("tenon");
    app.require_subcommand(1);
    app.set_version_flag("--version", std::string("tenon ") + version);
    app.footer(exit_codes);
    add_dev(app, asked);
    add_serve(app, asked);
    add_migrate(app, asked);
    add_keys(app, asked);
    add_status(app, asked);
    add_config(app, asked);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        const int code = app.exit(error);
        return code == 0 ? 0 : to_int(ExitCode::usage);
    }
    return run_command(asked);
}
