#include "app/command_line.hpp"

namespace tenon::app {

namespace {

void declare_migrate(CLI::App& app, Asked& asked) {
    auto* migrate = app.add_subcommand("migrate", "Brings the schema to what this program expects");
    add_sources(*migrate, asked.sources);
    add_data(*migrate, asked.sources);
    add_common(*migrate, asked);
    migrate->footer(
        "Examples:\n"
        "  tenon migrate\n"
        "  tenon migrate --config tenon.toml");
    auto* plan =
        migrate->add_subcommand("plan", "Lists pending files with locks and rows; changes nothing");
    add_sources(*plan, asked.sources);
    add_data(*plan, asked.sources);
    add_common(*plan, asked);
    plan->footer(
        "Examples:\n"
        "  tenon migrate plan");
    plan->callback([&asked] { asked.migrate.plan = true; });
    migrate->callback([&asked] {
        asked.migrate.form = asked.form;
        asked.run = [&asked] { return run_migrate(asked.sources, asked.migrate); };
    });
}

CLI::App* add_keys_action(CLI::App& keys, Asked& asked, const char* name, const char* meaning,
                          KeysCommand::Action action) {
    auto* command = keys.add_subcommand(name, meaning);
    add_sources(*command, asked.sources);
    add_data(*command, asked.sources);
    command->add_option("--project", asked.keys.project, "the project's name (default demo)")
        ->option_text("NAME");
    add_common(*command, asked);
    command->callback([&asked, action] {
        asked.keys.action = action;
        asked.keys.form = asked.form;
        asked.keys.overlap = std::chrono::hours(asked.overlap_hours);
        asked.run = [&asked] { return run_keys(asked.sources, asked.keys); };
    });
    return command;
}

void declare_making(CLI::App& keys, Asked& asked) {
    auto* make = add_keys_action(keys, asked, "make", "Makes a key and shows it this once",
                                 KeysCommand::Action::make);
    make->add_option("name", asked.keys.name, "what it is for")->required();
    make->add_option("--scope", asked.keys.scopes,
                     "a right, such as links:write; repeatable; default * (all)")
        ->option_text("SCOPE");
    make->footer(
        "Examples:\n"
        "  tenon keys make reporting --scope links:read\n"
        "  tenon keys make first --project shop");
    auto* list = add_keys_action(keys, asked, "list", "Lists the project's keys, not their texts",
                                 KeysCommand::Action::list);
    list->footer(
        "The last use is noted once a minute.\n\n"
        "Examples:\n"
        "  tenon keys list\n"
        "  tenon keys list --project shop -o jsonl");
}

void declare_ending(CLI::App& keys, Asked& asked) {
    constexpr const char* which =
        "key_... as `keys list` shows it, or the name of the one key of that name without an end";
    auto* rotate =
        add_keys_action(keys, asked, "rotate",
                        "Makes a key of the same rights; the old one goes on for the overlap",
                        KeysCommand::Action::rotate);
    rotate->add_option("key", asked.keys.id, which)->required();
    rotate->add_option("--overlap", asked.overlap_hours, "hours (default 24)")
        ->check(CLI::Range(0, 24 * 365))
        ->option_text("HOURS");
    rotate->footer(
        "Examples:\n"
        "  tenon keys rotate reporting --overlap 48");
    auto* revoke = add_keys_action(keys, asked, "revoke", "Ends a key within seconds",
                                   KeysCommand::Action::revoke);
    revoke->add_option("key", asked.keys.id, which)->required();
    revoke->footer(
        "Examples:\n"
        "  tenon keys revoke reporting");
}

void declare_keys(CLI::App& app, Asked& asked) {
    auto* keys = app.add_subcommand("keys", "API keys: make, list, rotate, revoke");
    keys->require_subcommand(1);
    declare_making(*keys, asked);
    declare_ending(*keys, asked);
}

void declare_config(CLI::App& app, Asked& asked) {
    struct Action {
        const char* name;
        const char* meaning;
        ConfigCommand::Action action;
        const char* example;
    };
    constexpr Action actions[] = {
        {"show", "Every value in force with its origin; secrets masked",
         ConfigCommand::Action::show, "tenon config show --config tenon.toml"},
        {"default", "A TOML file with every option at its default", ConfigCommand::Action::defaults,
         "tenon config default"},
        {"check", "Says what is wrong with the configuration; exit 3 when something is",
         ConfigCommand::Action::check, "tenon config check --config tenon.toml"},
        {"docs", "The reference of all options, in Markdown", ConfigCommand::Action::docs,
         "tenon config docs"}};
    auto* config = app.add_subcommand("config", "What is configured, by whom, and what could be");
    config->require_subcommand(1);
    for (const auto& [name, meaning, action, example] : actions) {
        auto* command = config->add_subcommand(name, meaning);
        add_sources(*command, asked.sources);
        add_common(*command, asked);
        command->footer(std::string("Examples:\n  ") + example);
        command->callback([&asked, action] {
            asked.config.action = action;
            asked.config.form = asked.form;
            asked.run = [&asked] { return run_config(asked.sources, asked.config); };
        });
    }
}

}  // namespace

void declare_tools(CLI::App& app, Asked& asked) {
    declare_migrate(app, asked);
    declare_keys(app, asked);
    declare_config(app, asked);
}

}  // namespace tenon::app
