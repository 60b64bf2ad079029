#include "app/command_line.hpp"
#include "app/usage.hpp"

namespace tenon::app {

namespace {

// The tests tell by this line which commands do not end by themselves.
constexpr const char* how_it_ends = "Runs until Ctrl-C or SIGTERM.";

void add_dev_options(CLI::App& dev, DevOptions& options) {
    dev.add_option("--data", options.data, "where everything lies (default ./.tenon)")
        ->option_text("DIR");
    dev.add_option("--ready-file", options.ready_file,
                   "written once requests are served: {\"url\": ..., \"key\": ...}")
        ->option_text("FILE");
    dev.add_option("--cores", options.cores, "threads that serve (default: one per processor)")
        ->check(CLI::Range(0, 256))
        ->option_text("N");
    add_choice<std::string>(
        dev, "--log-level",
        {{"debug", "debug"}, {"info", "info"}, {"warning", "warning"}, {"error", "error"}},
        options.log_level, "debug, info, warning or error (default warning)", "LEVEL");
    dev.add_flag("--detach", options.detach,
                 "returns once requests are served, and leaves it running; `tenon stop` ends it");
}

void declare_dev(CLI::App& app, Asked& asked) {
    auto* dev = app.add_subcommand(
        "dev", "Everything on this machine: private PostgreSQL and Redis, a project and its key");
    add_dev_options(*dev, asked.dev);
    dev->add_option("--port", asked.port,
                    "HTTP port; without it 8080 or the next free one; 0 for any free one")
        ->check(CLI::Range(0, 65'535))
        ->option_text("PORT");
    add_common(*dev, asked);
    dev->footer(std::string(how_it_ends) +
                "\n\nExamples:\n"
                "  tenon dev\n"
                "  tenon dev --port 0 --data second\n"
                "  tenon dev --detach --data second && tenon stop --data second");
    dev->callback([&asked] {
        if (!asked.port.empty()) {
            asked.dev.port = static_cast<std::uint16_t>(std::stoi(asked.port));
        }
        asked.dev.form = asked.form;
        asked.handles_signals = true;
        asked.run = [&asked] { return run_dev(asked.dev); };
    });
}

void declare_serve(CLI::App& app, Asked& asked) {
    auto* serve =
        app.add_subcommand("serve", "The server, on engines that the configuration names");
    add_sources(*serve, asked.sources);
    add_common(*serve, asked);
    serve->footer(std::string(how_it_ends) +
                  "\n\nExamples:\n"
                  "  tenon serve --config tenon.toml\n"
                  "  TENON_LOG_LEVEL=warning tenon serve --config tenon.toml -o json");
    serve->callback([&asked] {
        asked.handles_signals = true;
        asked.run = [&asked] { return run_serve(asked.sources, asked.form); };
    });
}

}  // namespace

void declare_servers(CLI::App& app, Asked& asked) {
    declare_dev(app, asked);
    declare_serve(app, asked);
}

}  // namespace tenon::app
