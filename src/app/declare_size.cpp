#include "app/command_line.hpp"

namespace tenon::app {

namespace {

/// One assumption of the arithmetic, which a flag replaces.
void add_assumption(CLI::App& command, const char* name, double& value, const char* meaning) {
    command.add_option(name, value, meaning)->check(CLI::PositiveNumber)->option_text("NUMBER");
}

void add_assumptions(CLI::App& links, LinksLoad& load) {
    add_assumption(links, "--redirects-per-link", load.redirects_per_link,
                   "in a link's life (default 100)");
    add_assumption(links, "--peak", load.peak,
                   "the busiest second beside the average one (default 10)");
    add_assumption(links, "--years", load.years, "how long links are kept (default 1)");
    add_assumption(links, "--bytes-per-link", load.bytes_per_link,
                   "row and index entries (default 500)");
    add_assumption(links, "--hot-share", load.hot_share,
                   "of the kept links, followed so often that they are cached (default 0.01)");
    add_assumption(links, "--creates-per-node", load.creates_per_node,
                   "of a PostgreSQL node per second (default 5000; make bench-links measures)");
    add_assumption(links, "--redirects-per-core", load.redirects_per_core,
                   "of a core of the server per second (default 20000; make bench-links measures)");
    add_assumption(links, "--bytes-per-node", load.bytes_per_node,
                   "for data on a PostgreSQL node's disk (default 2e12)");
}

}  // namespace

void declare_size(CLI::App& app, Asked& asked) {
    auto* size = app.add_subcommand("size", "What a load needs: the arithmetic, shown");
    size->require_subcommand(1);
    auto* links = size->add_subcommand("links", "Rates, bytes, memory and nodes for short links");
    const auto take = [&asked](const std::string& text) {
        const auto count = parse_count(text);
        if (!count) {
            throw CLI::ValidationError("--per-month",
                                       "'" + text + "' is no count such as 250k, 100M or 1.5G");
        }
        asked.links.links_per_month = *count;
    };
    links
        ->add_option_function<std::string>("--per-month", take,
                                           "links made per month, such as 250k, 100M or 1.5G")
        ->required()
        ->option_text("COUNT");
    add_assumptions(*links, asked.links);
    add_common(*links, asked);
    links->footer(
        "Examples:\n"
        "  tenon size links --per-month 100M\n"
        "  tenon size links --per-month 2G --years 3 --peak 4 -o json");
    links->callback(
        [&asked] { asked.run = [&asked] { return run_size_links(asked.links, asked.form); }; });
}

}  // namespace tenon::app
