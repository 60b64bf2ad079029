#include "runtime/option.hpp"

#include <algorithm>

#include "runtime/nearest.hpp"

namespace tenon::runtime {
namespace {

// A wrong section with a right name, and a right section with a wrong name, are both near.
template <class Project>
std::optional<std::string> nearest(std::string_view name, const std::vector<Option>& options,
                                   Project project) {
    std::vector<std::string_view> known;
    known.reserve(options.size());
    for (const Option& option : options) known.push_back(project(option));
    const auto found = nearest_name(name, known);
    if (!found) return std::nullopt;
    return std::string(*found);
}

std::string_view last_word(std::string_view path) {
    const std::size_t dot = path.rfind('.');
    return dot == std::string_view::npos ? path : path.substr(dot + 1);
}

}  // namespace

const Option* OptionList::find(std::string_view path) const {
    const auto found = std::find_if(options.begin(), options.end(),
                                    [&](const Option& option) { return option.path == path; });
    return found == options.end() ? nullptr : &*found;
}

bool OptionList::is_section(std::string_view path) const {
    return std::any_of(sections.begin(), sections.end(),
                       [&](const OptionSection& section) { return section.path == path; });
}

std::optional<std::string> OptionList::nearest_path(std::string_view path) const {
    const auto whole = [](const Option& option) -> std::string_view { return option.path; };
    const std::string_view word = last_word(path);
    const std::string_view section = path.substr(0, path.size() - word.size());
    if (is_section(section.substr(0, section.empty() ? 0 : section.size() - 1))) {
        // Within the section that was meant, a shorter name must not be outweighed by it.
        std::vector<Option> inside;
        for (const Option& option : options) {
            if (option.path.starts_with(section)) inside.push_back(option);
        }
        const auto near = nearest(word, inside, [&](const Option& option) {
            return std::string_view(option.path).substr(section.size());
        });
        if (near) return std::string(section) + *near;
    }
    // The same name in another section, when there is exactly one.
    const Option* same = nullptr;
    for (const Option& option : options) {
        if (last_word(option.path) != word) continue;
        if (same != nullptr) return nearest(path, options, whole);
        same = &option;
    }
    if (same != nullptr) return same->path;
    return nearest(path, options, whole);
}

std::optional<std::string> OptionList::nearest_environment(std::string_view name) const {
    const bool names_file = name.ends_with(file_suffix);
    const std::string_view stem =
        names_file ? name.substr(0, name.size() - file_suffix.size()) : name;
    auto found = nearest(
        stem, options, [](const Option& option) -> std::string_view { return option.environment; });
    if (found && names_file) *found += file_suffix;
    return found;
}

std::string environment_name(std::string_view path) {
    std::string name = "TENON_";
    for (const char c : path) {
        name += c == '.' ? '_' : (c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c);
    }
    return name;
}

}  // namespace tenon::runtime
