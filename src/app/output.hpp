// What a command prints: data on standard output, everything else on standard error.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "app/exit_code.hpp"
#include "runtime/json.hpp"

namespace tenon::app {

/// How a command's data is printed; `env`, lines for a shell's eval, where a command says so.
enum class OutputForm : std::uint8_t { text, json, jsonl, none, env };

/// Writes to standard output, flushed; a closed pipe is no error.
void print(std::string_view text);
/// Writes "tenon: sentence" and a newline to standard error.
void complain(std::string_view sentence);
/// What libraries say in several lines (a line feed and a tab between them), in one. Pure.
[[nodiscard]] std::string in_one_line(std::string_view text);

/// Prints items in the chosen form; `text` gives the whole text form.
template <class T, class Text>
void print_items(OutputForm form, const std::vector<T>& items, Text&& text) {
    if (form == OutputForm::text) print(text(items));
    if (form == OutputForm::json) print(runtime::to_json(items) + "\n");
    if (form != OutputForm::jsonl) return;
    for (const auto& item : items) print(runtime::to_json(item) + "\n");
}

/// Prints one item in the chosen form; one object is one line of jsonl, too.
template <class T, class Text>
void print_item(OutputForm form, const T& item, Text&& text) {
    if (form == OutputForm::text) print(text(item));
    if (form == OutputForm::json || form == OutputForm::jsonl) {
        print(runtime::to_json(item) + "\n");
    }
}

/// The elements of a JSON array, one per line; "" for an empty array.
///
/// Shape:   pure; splits, but does not judge. Expects: valid JSON, an array, without line feeds.
[[nodiscard]] std::string as_json_lines(std::string_view array);

}  // namespace tenon::app
