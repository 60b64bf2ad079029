#include "runtime/config_toml.hpp"

#include <fmt/format.h>

#include <toml++/toml.h>

#include <algorithm>
#include "runtime/config_problems.hpp"

namespace tenon::runtime {
namespace {

std::string_view kind_of(const toml::node& node) {
    switch (node.type()) {
        case toml::node_type::table:
            return "a table";
        case toml::node_type::array:
            return "a list";
        case toml::node_type::date:
            return "a date";
        case toml::node_type::time:
            return "a time";
        case toml::node_type::date_time:
            return "a date and time";
        default:
            return "a value";
    }
}

OptionValue value_of(const toml::node& node) {
    if (const auto* truth = node.as_boolean()) return {truth->get()};
    if (const auto* integer = node.as_integer()) return {integer->get()};
    if (const auto* number = node.as_floating_point()) return {number->get()};
    if (const auto* text = node.as_string()) return {text->get()};
    if (const auto* array = node.as_array()) {
        std::vector<std::string> texts;
        for (const toml::node& item : *array) {
            const auto* text = item.as_string();
            if (text == nullptr) return {OptionValue::Other{"a list with other things than texts"}};
            texts.push_back(text->get());
        }
        return {std::move(texts)};
    }
    return {OptionValue::Other{kind_of(node)}};
}

// Walks tables; a table is a section, everything else an option. Depth is bounded by the sections.
struct Walk {
    const OptionList& list;
    std::vector<FileSetting>& settings;

    void table(const toml::table& table, const std::string& prefix) const {
        for (const auto& [key, node] : table) {
            entry(key, node, prefix + std::string(key.str()));
        }
    }

    void entry(const toml::key& key, const toml::node& node, const std::string& path) const {
        const toml::table* inner = node.as_table();
        if (inner != nullptr && list.is_section(path)) return table(*inner, path + '.');
        FileSetting setting;
        setting.line = key.source().begin.line;
        setting.path = path;
        setting.option = list.find(path);
        setting.value = value_of(node);
        setting.is_misused_section = list.is_section(path);
        if (setting.option == nullptr) setting.nearest = nearest(path, inner != nullptr);
        settings.push_back(std::move(setting));
    }

    [[nodiscard]] std::string nearest(const std::string& path, bool is_table) const {
        if (!is_table) return list.nearest_path(path).value_or("");
        OptionList as_options;
        for (const OptionSection& section : list.sections) {
            as_options.options.emplace_back().path = section.path;
        }
        return as_options.nearest_path(path).value_or("");
    }
};

std::string one_line(std::string_view text) {
    std::string line(text);
    std::replace(line.begin(), line.end(), '\n', ' ');
    return line;
}

}  // namespace

base::Result<std::vector<FileSetting>> read_toml(const ConfigFile& file, const OptionList& list) {
    std::vector<FileSetting> settings;
    try {
        const toml::table table = toml::parse(file.text);
        Walk{list, settings}.table(table, "");
    } catch (const toml::parse_error& error) {
        const toml::source_position at = error.source().begin;
        ConfigProblems problems;
        problems.add(fmt::format("{}:{}:{}", file.name, at.line, at.column),
                     fmt::format("this is not TOML: {}", one_line(error.description())));
        return base::fail(problems.error());
    }
    std::sort(settings.begin(), settings.end(),
              [](const FileSetting& a, const FileSetting& b) { return a.line < b.line; });
    return settings;
}

}  // namespace tenon::runtime
