// Configuration: options structs filled from defaults, a TOML file, the environment and flags.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "base/result.hpp"
#include "runtime/option.hpp"
#include "runtime/option_codec.hpp"

namespace tenon::runtime {

/// A TOML text and what errors call it.
struct ConfigFile {
    std::string name;  ///< the path as it was given
    std::string text;
};

/// One flag of the command line that sets an option: {"--port", "http.port", "8080"}.
struct ConfigFlag {
    std::string flag;
    std::string path;
    std::string value;
};

/// Everything that sets options; later members win over earlier ones, and defaults lose to all.
struct ConfigSources {
    std::optional<ConfigFile> file;
    /// Variables named TENON_SECTION_FIELD, or TENON_SECTION_FIELD_FILE, whose content with white
    /// space taken off at its ends is the value. Others are not looked at.
    std::vector<std::pair<std::string, std::string>> environment;
    std::vector<ConfigFlag> flags;
};

/// Reads a configuration file. Errors: config.invalid, with the path and the system's reason.
[[nodiscard]] base::Result<ConfigFile> read_config_file(const std::string& path);
/// The variables of this process whose name begins with TENON_.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> tenon_environment();

/// Where the value of an option came from.
struct OptionState {
    const Option* option = nullptr;
    std::string value;   ///< as TOML, masked where it is secret; empty: not set
    std::string origin;  ///< "default", "tenon.toml:12", "env TENON_HTTP_PORT", "flag --port"
};

/// A configuration that was accepted, and where each of its values came from.
template <class Config>
struct LoadedConfig {
    Config values;
    std::vector<OptionState> states;  ///< in the order of the options
};

/// A described struct with docs: a section, or a whole configuration.
template <class T>
concept OptionStruct = DescribedStruct<T> && requires { option_docs<T>::list; };

/// True when every described member has a doc and every doc a member.
template <OptionStruct T>
[[nodiscard]] consteval bool docs_match_members() {
    std::size_t matched = 0;
    boost::mp11::mp_for_each<MembersOf<T>>([&](auto member) {
        for (const OptionDoc& doc : option_docs<T>::list) {
            if (doc.name == json_name(member.name)) ++matched;
        }
    });
    constexpr std::size_t members = boost::mp11::mp_size<MembersOf<T>>::value;
    constexpr std::size_t docs = std::size(option_docs<T>::list);
    return members == docs && matched == docs;
}

/// The doc of a described member.
template <OptionStruct T>
[[nodiscard]] const OptionDoc& doc_of(std::string_view member) {
    const auto* found = std::ranges::find(option_docs<T>::list, member, &OptionDoc::name);
    TENON_ASSERT(found != std::end(option_docs<T>::list));
    return *found;
}

/// From a configuration to one of its parts.
using PartOf = std::function<void*(void* config)>;

/// The option that a member of type T is.
template <class T>
[[nodiscard]] Option make_option(std::string path, OptionDoc doc, const PartOf& part) {
    if constexpr (std::same_as<T, Secret>) doc.secret = true;
    Option option;
    option.environment = environment_name(path);
    option.path = std::move(path);
    option.type = option_type<T>(doc);
    option.expected = option_expected<T>(doc);
    option.doc = doc;
    option.read = [part, doc](void* config, const OptionValue& value) {
        T read{};
        if (!read_option(value, doc, read)) return false;
        *static_cast<T*>(part(config)) = std::move(read);
        return true;
    };
    option.write = [part, doc](const void* config) {
        // The part is only read; one kind of accessor serves both directions.
        return write_option(*static_cast<const T*>(part(const_cast<void*>(config))), doc);
    };
    return option;
}

/// Appends the options of a struct and of the sections inside it.
template <OptionStruct T>
void add_options(OptionList& to, const std::string& prefix, const PartOf& part) {
    static_assert(docs_match_members<T>(), "one OptionDoc per described member, by its name");
    boost::mp11::mp_for_each<MembersOf<T>>([&](auto member) {
        using Member = std::remove_cvref_t<decltype(std::declval<T&>().*member.pointer)>;
        const OptionDoc& doc = doc_of<T>(json_name(member.name));
        std::string path = prefix + std::string(doc.name);
        const PartOf inner = [part](void* config) -> void* {
            return &(static_cast<T*>(part(config))->*decltype(member)::pointer);
        };
        if constexpr (OptionStruct<Member>) {
            to.sections.push_back({path, doc.effect});
            add_options<Member>(to, path + '.', inner);
        } else {
            to.options.push_back(make_option<Member>(std::move(path), doc, inner));
        }
    });
}

/// Ends the process when two options share a variable or a default is not accepted.
void check_options(const OptionList& list, void* defaults);

/// All options of a configuration struct, made once.
template <OptionStruct Config>
[[nodiscard]] const OptionList& options_of() {
    static const OptionList list = [] {
        OptionList made;
        add_options<Config>(made, "", [](void* config) { return config; });
        Config defaults{};
        for (Option& option : made.options) option.default_text = option.write(&defaults);
        check_options(made, &defaults);
        return made;
    }();
    return list;
}

/// Fills `config`, which holds the defaults, from the sources; the states of all options.
///
/// Errors: see load_config; `config` is then half filled.
[[nodiscard]] base::Result<std::vector<OptionState>> fill_config(const OptionList& list,
                                                                 void* config,
                                                                 const ConfigSources& sources);

/// The configuration that the sources give.
///
/// Shape:  a variable that begins with TENON_ and is no option is refused, but for TENON_TEST_*,
///         TENON_URL and TENON_KEY. A variable and its _FILE variant together are refused.
/// Errors: config.invalid, whose detail has one sentence per problem, all of them, on lines of
///         their own; its fields name the place ("tenon.toml:12", "env TENON_X") and the problem,
///         with the nearest name for an unknown one. Values of secrets are never in it.
template <OptionStruct Config>
[[nodiscard]] base::Result<LoadedConfig<Config>> load_config(const ConfigSources& sources) {
    LoadedConfig<Config> loaded;
    auto states = fill_config(options_of<Config>(), &loaded.values, sources);
    if (!states) return base::fail(std::move(states).error());
    loaded.states = *std::move(states);
    return loaded;
}

}  // namespace tenon::runtime
