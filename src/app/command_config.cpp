#include "app/commands.hpp"
#include "runtime/config_text.hpp"

namespace tenon::app {

namespace {

/// Prints what `make` gives, a JSON array, as json or as jsonl.
template <class Make>
void print_array(OutputForm form, const Make& make) {
    if (form == OutputForm::json) print(make() + "\n");
    if (form == OutputForm::jsonl) print(as_json_lines(make()));
}

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
    if (form == OutputForm::text) print(runtime::show_config_text(loaded->states));
    print_array(form, [&] { return runtime::show_config_json(loaded->states); });
    return ExitCode::ok;
}

}  // namespace

ExitCode run_config(const Sources& sources, const ConfigCommand& command) {
    const auto& options = runtime::options_of<Config>();
    const auto all = [&options] { return runtime::document_config_json(options); };
    switch (command.action) {
        case ConfigCommand::Action::check:
            return check(sources, command.form);
        case ConfigCommand::Action::show:
            return show(sources, command.form);
        case ConfigCommand::Action::defaults:
            if (command.form == OutputForm::text) print(runtime::default_config(options));
            print_array(command.form, all);
            return ExitCode::ok;
        case ConfigCommand::Action::docs:
            if (command.form == OutputForm::text) print(runtime::document_config(options));
            print_array(command.form, all);
            return ExitCode::ok;
    }
    return ExitCode::usage;
}

}  // namespace tenon::app
