#include "runtime/config_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/json.hpp"

namespace tenon::runtime {

struct ShownOption {
    std::string option;
    std::optional<std::string> value;
    std::string origin;
};
BOOST_DESCRIBE_STRUCT(ShownOption, (), (option, value, origin))

struct DocumentedOption {
    std::string option;
    std::string variable;
    std::string type;
    std::optional<std::string> unit;
    std::optional<std::string> default_;
    std::string expected;
    std::string effect;
    bool secret = false;
};
BOOST_DESCRIBE_STRUCT(DocumentedOption, (),
                      (option, variable, type, unit, default_, expected, effect, secret))

struct ShownProblem {
    std::string place;
    std::string problem;
};
BOOST_DESCRIBE_STRUCT(ShownProblem, (), (place, problem))

struct CheckResult {
    bool ok = true;
    std::vector<ShownProblem> problems;
};
BOOST_DESCRIBE_STRUCT(CheckResult, (), (ok, problems))

namespace {

std::optional<std::string> unless_empty(std::string_view text) {
    if (text.empty()) return std::nullopt;
    return std::string(text);
}

std::string_view section_of(std::string_view path) {
    const std::size_t dot = path.rfind('.');
    return dot == std::string_view::npos ? "" : path.substr(0, dot);
}

std::string_view name_in_section(std::string_view path) {
    const std::size_t dot = path.rfind('.');
    return dot == std::string_view::npos ? path : path.substr(dot + 1);
}

// "Unit: connections. Expected: ... Environment: TENON_X." in as few words as possible.
std::string facts_of(const Option& option) {
    const bool names_unit = !option.doc.unit.empty() && option.doc.unit != "bytes";
    return fmt::format("{}{}; {}", option.expected,
                       names_unit ? fmt::format(" ({})", option.doc.unit) : "", option.environment);
}

// Comments wrap at 100 columns.
void append_comment(std::string& out, std::string_view text) {
    constexpr std::size_t columns = 96;
    while (!text.empty()) {
        std::size_t end = text.size();
        if (end > columns) {
            end = text.rfind(' ', columns);
            if (end == std::string_view::npos) end = std::min(text.find(' '), text.size());
        }
        fmt::format_to(std::back_inserter(out), "## {}\n", text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

// Options outside of any section come first, as TOML demands.
std::vector<OptionSection> sections_with_root(const OptionList& list) {
    std::vector<OptionSection> all{{"", ""}};
    all.insert(all.end(), list.sections.begin(), list.sections.end());
    return all;
}

std::vector<const Option*> options_in(const OptionList& list, std::string_view section) {
    std::vector<const Option*> found;
    for (const Option& option : list.options) {
        if (section_of(option.path) == section) found.push_back(&option);
    }
    return found;
}

std::string escape_cell(std::string_view text) {
    std::string cell;
    for (const char c : text) {
        if (c == '|') cell += '\\';
        cell += c;
    }
    return cell;
}

}  // namespace

std::string show_config_text(const std::vector<OptionState>& states) {
    constexpr std::string_view unset = "(not set)";
    std::size_t paths = 0;
    std::size_t values = unset.size();
    for (const OptionState& state : states) {
        paths = std::max(paths, state.option->path.size());
        // One long value must not push all origins out of sight.
        values = std::max(values, std::min<std::size_t>(state.value.size(), 40));
    }
    std::string out;
    for (const OptionState& state : states) {
        fmt::format_to(std::back_inserter(out), "{:{}}  {:{}}  {}\n", state.option->path, paths,
                       state.value.empty() ? unset : std::string_view(state.value), values,
                       state.origin);
    }
    return out;
}

std::string show_config_json(const std::vector<OptionState>& states) {
    std::vector<ShownOption> all;
    all.reserve(states.size());
    for (const OptionState& state : states) {
        all.push_back({state.option->path, unless_empty(state.value), state.origin});
    }
    return to_json(all);
}

std::string default_config(const OptionList& list) {
    std::string out;
    for (const OptionSection& section : sections_with_root(list)) {
        const auto options = options_in(list, section.path);
        if (options.empty()) continue;
        if (!section.path.empty()) {
            append_comment(out, section.effect);
            fmt::format_to(std::back_inserter(out), "[{}]\n\n", section.path);
        }
        for (const Option* option : options) {
            append_comment(out, option->doc.effect);
            append_comment(out, facts_of(*option));
            const bool is_set = !option->default_text.empty();
            fmt::format_to(std::back_inserter(out), "#{} ={}{}\n\n", name_in_section(option->path),
                           is_set ? " " : "", option->default_text);
        }
    }
    return out;
}

std::string document_config(const OptionList& list) {
    std::string out = "# Configuration\n\n";
    for (const OptionSection& section : sections_with_root(list)) {
        const auto options = options_in(list, section.path);
        if (options.empty()) continue;
        if (!section.path.empty()) {
            fmt::format_to(std::back_inserter(out), "## {}\n\n{}\n\n", section.path,
                           section.effect);
        }
        out += "| Option | Default | Accepts | Effect |\n|---|---|---|---|\n";
        for (const Option* option : options) {
            const std::string shown = option->default_text.empty()
                                          ? "not set"
                                          : fmt::format("`{}`", option->default_text);
            fmt::format_to(std::back_inserter(out), "| `{}`<br>`{}` | {} | {} | {}{} |\n",
                           option->path, option->environment, escape_cell(shown),
                           escape_cell(option->expected), escape_cell(option->doc.effect),
                           option->doc.secret ? " Secret: shown masked." : "");
        }
        out += '\n';
    }
    return out;
}

std::string document_config_json(const OptionList& list) {
    std::vector<DocumentedOption> all;
    all.reserve(list.options.size());
    for (const Option& option : list.options) {
        all.push_back({option.path, option.environment, option.type, unless_empty(option.doc.unit),
                       unless_empty(option.default_text), option.expected,
                       std::string(option.doc.effect), option.doc.secret});
    }
    return to_json(all);
}

std::string check_config_text(const base::Error& error) {
    return error.detail() + "\n";
}

std::string check_config_json(const base::Error* error) {
    CheckResult result;
    if (error != nullptr) {
        result.ok = false;
        for (const base::FieldError& field : error->fields()) {
            result.problems.push_back({field.pointer, field.expected});
        }
        // A file that cannot be read has no fields, only a sentence.
        if (result.problems.empty()) result.problems.push_back({"", error->detail()});
    }
    return to_json(result);
}

}  // namespace tenon::runtime
