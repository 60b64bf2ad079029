#include "app/usage.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/exit_code.hpp"
#include "runtime/nearest.hpp"

namespace tenon::app {

namespace {

/// The innermost command that was named, and how it is called.
struct Named {
    const CLI::App* command;
    std::string path;
};

Named find_named(const CLI::App& app) {
    Named named{.command = &app, .path = app.get_name()};
    while (!named.command->get_subcommands().empty()) {
        named.command = named.command->get_subcommands().front();
        named.path += " " + named.command->get_name();
    }
    return named;
}

std::vector<std::string> names_of_options(const CLI::App& command) {
    std::vector<std::string> names;
    for (const auto* option : command.get_options()) {
        for (const auto& name : option->get_lnames()) names.push_back("--" + name);
        for (const auto& name : option->get_snames()) names.push_back("-" + name);
    }
    return names;
}

std::vector<std::string> names_of_commands(const CLI::App& command) {
    std::vector<std::string> names;
    for (const auto* inner : command.get_subcommands(nullptr)) names.push_back(inner->get_name());
    return names;
}

std::string suggest(std::string_view word, const std::vector<std::string>& known) {
    const std::vector<std::string_view> views(known.begin(), known.end());
    const auto near = runtime::nearest_name(word, views);
    return near ? fmt::format("; did you mean {}?", *near) : "";
}

std::string explain_word(const Named& named, const std::string& word) {
    if (word.starts_with('-')) {
        const auto name = word.substr(0, word.find('='));
        return fmt::format("`{}` has no option {}{}", named.path, name,
                           suggest(name, names_of_options(*named.command)));
    }
    const auto commands = names_of_commands(*named.command);
    if (commands.empty()) return fmt::format("`{}` does not take '{}'", named.path, word);
    return fmt::format("`{}` has no command {}{}", named.path, word, suggest(word, commands));
}

bool lacks_command(const Named& named, const CLI::ParseError& error) {
    return named.command->get_require_subcommand_min() > 0 && error.get_name() == "RequiredError";
}

}  // namespace

std::string refuse_word(std::string_view word, const std::vector<std::string_view>& known) {
    const std::vector<std::string> names(known.begin(), known.end());
    return fmt::format("'{}' is none of {}{}", word, fmt::join(known, ", "), suggest(word, names));
}

std::string explain_usage(const CLI::App& app, const CLI::ParseError& error) {
    const auto named = find_named(app);
    const auto unknown = app.remaining(true);
    std::string what;
    if (!unknown.empty()) {
        what = explain_word(named, unknown.front());
    } else if (lacks_command(named, error)) {
        what = fmt::format("`{}` needs a command: {}", named.path,
                           fmt::join(names_of_commands(*named.command), ", "));
    } else {
        what = fmt::format("`{}`: {}", named.path, error.what());
    }
    return fmt::format("{} (see {} --help)", what, named.path);
}

std::string exit_code_help() {
    std::string text = "Exit codes:\n";
    for (const auto& doc : exit_code_docs) {
        text += fmt::format("  {:<5}{}\n", to_int(doc.code), doc.meaning);
    }
    return text + "\nData goes to standard output, everything else to standard error.";
}

}  // namespace tenon::app
