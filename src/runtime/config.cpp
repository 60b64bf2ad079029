#include "runtime/config.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <system_error>

#include "runtime/config_problems.hpp"
#include "runtime/config_toml.hpp"
#include "runtime/errors.hpp"

namespace tenon::runtime {
namespace {

bool is_reserved(std::string_view variable) {
    return variable.starts_with("TENON_TEST_") || variable == "TENON_URL" ||
           variable == "TENON_KEY" || !variable.starts_with("TENON_");
}

std::string trimmed(std::string_view text) {
    constexpr std::string_view space = " \t\r\n";
    const std::size_t begin = text.find_first_not_of(space);
    if (begin == std::string_view::npos) return "";
    return std::string(text.substr(begin, text.find_last_not_of(space) - begin + 1));
}

std::unexpected<base::Error> fail_reading(const std::string& path, int reason) {
    return base::fail(errors::config_invalid, fmt::format("{} cannot be read: {}", path,
                                                          std::generic_category().message(reason)));
}

base::Result<std::string> read_file(const std::string& path) {
    using Closer = decltype([](std::FILE* file) { std::fclose(file); });
    const std::unique_ptr<std::FILE, Closer> file(std::fopen(path.c_str(), "rb"));
    if (!file) return fail_reading(path, errno);
    std::string text;
    std::array<char, 4096> block{};
    while (const std::size_t count = std::fread(block.data(), 1, block.size(), file.get())) {
        text.append(block.data(), count);
    }
    // Opening a folder succeeds; reading it does not.
    if (std::ferror(file.get()) != 0) return fail_reading(path, errno);
    return text;
}

// Applies the sources one after the other; what comes later wins.
class Filling {
public:
    Filling(const OptionList& list, void* config) : list_(list), config_(config) {}

    void add_file(const ConfigFile& file) {
        const auto settings = read_toml(file, list_);
        if (!settings) return problems_.add_all(settings.error());
        for (const FileSetting& setting : *settings) {
            const std::string place = fmt::format("{}:{}", file.name, setting.line);
            if (setting.option != nullptr) {
                set(*setting.option, setting.value, place);
            } else if (setting.is_misused_section) {
                problems_.add(place, fmt::format("{} is a section, not an option", setting.path));
            } else {
                problems_.add_unknown(place, setting.path, setting.nearest);
            }
        }
    }

    void add_environment(const std::vector<std::pair<std::string, std::string>>& variables) {
        std::map<const Option*, std::string> seen;
        for (const auto& [name, value] : variables) {
            if (is_reserved(name)) continue;
            const Option* option = find_variable(name);
            if (option == nullptr) {
                problems_.add_unknown("env " + name, name,
                                      list_.nearest_environment(name).value_or(""));
                continue;
            }
            const auto [other, is_first] = seen.emplace(option, name);
            if (!is_first) {
                problems_.add("env " + name, fmt::format("set either it or {}", other->second));
                continue;
            }
            set_variable(*option, name, value);
        }
    }

    void add_flag(const ConfigFlag& flag) {
        const Option* option = list_.find(flag.path);
        if (option == nullptr) {
            problems_.add_unknown("flag " + flag.flag, flag.path,
                                  list_.nearest_path(flag.path).value_or(""));
            return;
        }
        set(*option, {flag.value, true}, "flag " + flag.flag);
    }

    [[nodiscard]] base::Result<std::vector<OptionState>> finish() const {
        if (!problems_.empty()) return base::fail(problems_.error());
        std::vector<OptionState> states;
        for (const Option& option : list_.options) {
            const auto origin = origins_.find(&option);
            states.push_back(
                {&option, shown(option), origin == origins_.end() ? "default" : origin->second});
        }
        return states;
    }

private:
    [[nodiscard]] const Option* find_variable(std::string_view name) const {
        const auto named = [&](std::string_view wanted) -> const Option* {
            const auto found =
                std::find_if(list_.options.begin(), list_.options.end(),
                             [&](const Option& option) { return option.environment == wanted; });
            return found == list_.options.end() ? nullptr : &*found;
        };
        if (const Option* option = named(name)) return option;
        if (!name.ends_with(file_suffix)) return nullptr;
        return named(name.substr(0, name.size() - file_suffix.size()));
    }

    void set_variable(const Option& option, const std::string& name, const std::string& value) {
        if (option.environment == name) return set(option, {value, true}, "env " + name);
        const auto text = read_file(value);
        if (!text) return problems_.add("env " + name, text.error().detail());
        set(option, {trimmed(*text), true}, "env " + name);
    }

    void set(const Option& option, const OptionValue& value, const std::string& place) {
        if (!option.read(config_, value)) return problems_.add_refused(place, option, value);
        origins_[&option] = place;
    }

    [[nodiscard]] std::string shown(const Option& option) const {
        const std::string text = option.write(config_);
        if (option.doc.secret)
            return text.empty() || text == "\"\"" ? text : toml_text(secret_mask);
        return mask_secrets(text);
    }

    const OptionList& list_;
    void* config_;
    ConfigProblems problems_;
    std::map<const Option*, std::string> origins_;
};

}  // namespace

base::Result<ConfigFile> read_config_file(const std::string& path) {
    auto text = read_file(path);
    if (!text) return base::fail(text.error());
    return ConfigFile{path, *std::move(text)};
}

std::vector<std::pair<std::string, std::string>> tenon_environment() {
    std::vector<std::pair<std::string, std::string>> found;
    for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text(*entry);
        const std::size_t equals = text.find('=');
        if (equals == std::string_view::npos || !text.starts_with("TENON_")) continue;
        found.emplace_back(text.substr(0, equals), text.substr(equals + 1));
    }
    std::sort(found.begin(), found.end());
    return found;
}

void check_options(const OptionList& list, void* defaults) {
    std::set<std::string> variables;
    for (const Option& option : list.options) {
        TENON_ASSERT(variables.insert(option.environment).second);
        TENON_ASSERT(variables.insert(option.environment + std::string(file_suffix)).second);
        if (option.default_text.empty()) continue;
        // A default outside the documented bounds could not be written into a file.
        const ConfigFile file{"default", option.path + " = " + option.default_text};
        const auto settings = read_toml(file, list);
        TENON_ASSERT(settings && option.read(defaults, settings->at(0).value));
    }
}

base::Result<std::vector<OptionState>> fill_config(const OptionList& list, void* config,
                                                   const ConfigSources& sources) {
    Filling filling(list, config);
    if (sources.file) filling.add_file(*sources.file);
    filling.add_environment(sources.environment);
    for (const ConfigFlag& flag : sources.flags) filling.add_flag(flag);
    return filling.finish();
}

}  // namespace tenon::runtime
