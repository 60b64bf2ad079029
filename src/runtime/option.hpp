// An option: one member of an options struct, with what people must know about it.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tenon::runtime {

/// What is written about one described member of an options struct.
struct OptionDoc {
    std::string_view name;       ///< the member's name as described
    std::string_view effect;     ///< one or two sentences: what it does and what a change costs
    std::string_view unit = {};  ///< "connections"; "bytes" also reads 64MiB; durations need none
    std::int64_t minimum = std::numeric_limits<std::int64_t>::min();  ///< durations: milliseconds
    std::int64_t maximum = std::numeric_limits<std::int64_t>::max();
    bool secret = false;  ///< shown as a mask; a Secret is one anyway
};

/// The documentation of an options struct, in a list of one OptionDoc per described member:
///
///     BOOST_DESCRIBE_STRUCT(PoolOptions, (), (conninfo, multiplexed))
///
///     template <>
///     struct runtime::option_docs<PoolOptions> {
///         static constexpr OptionDoc list[] = {
///             {.name = "conninfo", .effect = "Where PostgreSQL is.", .secret = true},
///             {.name = "multiplexed", .effect = "...", .minimum = 1, .maximum = 64},
///         };
///     };
///
/// A member that is itself such a struct is a section. A member without a doc, and a doc without
/// a member, do not compile. Members that are not described are no options.
template <class T>
struct option_docs;

/// A value as a source gives it: a text of the environment or a flag, or a TOML value.
struct OptionValue {
    struct Other {
        std::string_view kind;  ///< "a date", "a table"
    };
    std::variant<bool, std::int64_t, double, std::string, std::vector<std::string>, Other> value;
    bool is_text = false;  ///< true: any type may be read from the string
};

/// One option of a whole configuration, found by its path, without its types.
struct Option {
    std::string path;          ///< "http.port"
    std::string environment;   ///< "TENON_HTTP_PORT"
    std::string type;          ///< "integer", "duration", "bytes", "text", ...
    std::string expected;      ///< "an integer from 0 to 65535"
    std::string default_text;  ///< as TOML
    OptionDoc doc;
    /// Sets it in a configuration; false when the value is refused.
    std::function<bool(void* config, const OptionValue& value)> read;
    /// The value as TOML; secrets are not masked. Empty: an optional that is not set.
    std::function<std::string(const void* config)> write;
};

/// A group of options.
struct OptionSection {
    std::string path;  ///< "http"
    std::string_view effect;
};

/// All options of a configuration, in order of their declaration.
struct OptionList {
    std::vector<Option> options;
    std::vector<OptionSection> sections;

    [[nodiscard]] const Option* find(std::string_view path) const;
    [[nodiscard]] bool is_section(std::string_view path) const;
    /// "http.port", or nullopt when nothing is near.
    [[nodiscard]] std::optional<std::string> nearest_path(std::string_view path) const;
    [[nodiscard]] std::optional<std::string> nearest_environment(std::string_view name) const;
};

/// What the name of a variable ends in that names a file with the value.
inline constexpr std::string_view file_suffix = "_FILE";

/// "http.body_bytes_max" to "TENON_HTTP_BODY_BYTES_MAX".
[[nodiscard]] std::string environment_name(std::string_view path);

}  // namespace tenon::runtime
