// What a command prints: data on standard output, everything else on standard error.
#pragma once

#include <string>
#include <string_view>

#include "runtime/json.hpp"

namespace tenon::app {

/// How a command's data is printed.
enum class OutputForm { text, json, jsonl, none };

/// The exit codes of every command; `tenon --help` lists them.
enum class ExitCode : int {
    ok = 0,
    failed = 1,
    usage = 2,
    check_failed = 3,
    unauthenticated = 4,
    not_ready = 5,
    interrupted = 130,
};

/// What main returns.
[[nodiscard]] constexpr int to_int(ExitCode code) {
    return static_cast<int>(code);
}

/// Writes to standard output, flushed; a closed pipe is no error.
void print(std::string_view text);
/// Writes "tenon: sentence" and a newline to standard error.
void complain(std::string_view sentence);

/// Prints items in the chosen form; `text` gives the whole text form.
template <class T, class Text>
void print_items(OutputForm form, const std::vector<T>& items, Text&& text) {
    if (form == OutputForm::text) print(text(items));
    if (form == OutputForm::json) print(runtime::to_json(items) + "\n");
    if (form != OutputForm::jsonl) return;
    for (const auto& item : items) print(runtime::to_json(item) + "\n");
}

}  // namespace tenon::app
