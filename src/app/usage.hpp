// What a command line that was not understood is answered with.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::app {

/// One sentence: which word of which command is wrong, the nearest right one, and where help is.
///
/// Expects: `app` has just thrown `error` while it parsed.
[[nodiscard]] std::string explain_usage(const CLI::App& app, const CLI::ParseError& error);

/// "'jsno' is none of text, json, none; did you mean json?"
[[nodiscard]] std::string refuse_word(std::string_view word,
                                      const std::vector<std::string_view>& known);

/// The text of `tenon --help` behind the commands: exit codes and where output goes.
[[nodiscard]] std::string exit_code_help();

/// Adds an option that takes one of a few words, and refuses others with the nearest.
template <class T>
void add_choice(CLI::App& command, const std::string& names,
                const std::vector<std::pair<std::string_view, T>>& choices, T& target,
                const std::string& meaning, const std::string& shown) {
    const auto take = [names, choices, &target](const std::string& word) {
        std::vector<std::string_view> known;
        for (const auto& [name, value] : choices) {
            if (name == word) {
                target = value;
                return;
            }
            known.push_back(name);
        }
        throw CLI::ValidationError(names.substr(names.find("--")), refuse_word(word, known));
    };
    command.add_option_function<std::string>(names, take, meaning)->option_text(shown);
}

}  // namespace tenon::app
