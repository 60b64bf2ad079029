#include "app/commands.hpp"
#include "runtime/config_text.hpp"

namespace tenon::app {

namespace {

ExitCode check(const Sources& sources, OutputForm form) {
    const auto loaded = load(sources);
    const auto* error = loaded ? nullptr : &loaded.error();
    if (form == OutputForm::json || form == OutputForm::jsonl) {
        print(runtime::check_config_json(error) + "\n");
    } else if (form == OutputForm::text) {
        print(error == nullptr ? "the configuration is accepted\n"
                               : runtime::check_config_text(*error));
    }
    return error == nullptr ? ExitCode::ok : ExitCode::check_failed;
}

ExitCode show(const Sources& sources, OutputForm form) {
    const auto loaded = load(sources);
    if (!loaded) {
        complain(loaded.error().detail());
        return ExitCode::failed;
    }
    const bool json = form == OutputForm::json || form == OutputForm::jsonl;
    if (json) print(runtime::show_config_json(loaded->states) + "\n");
    if (form == OutputForm::text) print(runtime::show_config_text(loaded->states));
    return ExitCode::ok;
}

}  // namespace

ExitCode run_config(const Sources& sources, const ConfigCommand& command) {
    const auto& options = runtime::options_of<Config>();
    const bool json = command.form == OutputForm::json || command.form == OutputForm::jsonl;
    switch (command.action) {
        case ConfigCommand::Action::check:
            return check(sources, command.form);
        case ConfigCommand::Action::show:
            return show(sources, command.form);
        case ConfigCommand::Action::defaults:
            if (command.form != OutputForm::none) print(runtime::default_config(options));
            return ExitCode::ok;
        case ConfigCommand::Action::docs:
            if (command.form == OutputForm::text) print(runtime::document_config(options));
            if (json) print(runtime::document_config_json(options) + "\n");
            return ExitCode::ok;
    }
    return ExitCode::usage;
}

}  // namespace tenon::app
