#include "app/command_line.hpp"

namespace tenon::app {

namespace {

void declare_status(CLI::App& app, Asked& asked) {
    auto* status = app.add_subcommand("status", "What runs in a data folder, from any terminal");
    add_data(*status, asked.sources);
    add_common_with_env(*status, asked);
    status->footer(
        "Examples:\n"
        "  tenon status\n"
        "  eval \"$(tenon status -o env)\"");
    status->callback(
        [&asked] { asked.run = [&asked] { return run_status(asked.sources.data, asked.form); }; });
}

void declare_stop(CLI::App& app, Asked& asked) {
    auto* stop = app.add_subcommand("stop", "Ends what runs in a data folder, in order");
    add_data(*stop, asked.sources);
    add_common(*stop, asked);
    stop->footer(
        "What does not run is no failure: it exits with 0.\n\n"
        "Examples:\n"
        "  tenon stop --data second");
    stop->callback(
        [&asked] { asked.run = [&asked] { return run_stop(asked.sources.data, asked.form); }; });
}

void declare_doctor(CLI::App& app, Asked& asked) {
    auto* doctor = app.add_subcommand(
        "doctor", "Checks engines, schema, machine and server; exit 3 when something fails");
    add_sources(*doctor, asked.sources);
    add_data(*doctor, asked.sources);
    add_common(*doctor, asked);
    doctor->footer(
        "Examples:\n"
        "  tenon doctor\n"
        "  tenon doctor --config tenon.toml -o jsonl");
    doctor->callback(
        [&asked] { asked.run = [&asked] { return run_doctor(asked.sources, asked.form); }; });
}

}  // namespace

void declare_care(CLI::App& app, Asked& asked) {
    declare_status(app, asked);
    declare_stop(app, asked);
    declare_doctor(app, asked);
}

}  // namespace tenon::app
