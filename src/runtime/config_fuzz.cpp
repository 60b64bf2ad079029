// Any text is accepted or refused with a sentence; what was accepted is accepted again as shown.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/assert.hpp"
#include "runtime/config.hpp"

namespace tenon::runtime {

enum class FuzzMode { fast, safe };
BOOST_DESCRIBE_ENUM(FuzzMode, fast, safe)

struct FuzzSection {
    std::vector<std::string> texts{"a"};
    std::uint16_t port = 1;
    std::size_t bytes = 1 << 20;
    std::chrono::milliseconds wait{250};
    bool on = true;
    double ratio = 0.5;
    FuzzMode mode = FuzzMode::safe;
    std::optional<std::int64_t> number;
    std::string text;
};
BOOST_DESCRIBE_STRUCT(FuzzSection, (), (texts, port, bytes, wait, on, ratio, mode, number, text))

struct FuzzConfig {
    std::string name;
    FuzzSection part;
};
BOOST_DESCRIBE_STRUCT(FuzzConfig, (), (name, part))

template <>
struct option_docs<FuzzSection> {
    static constexpr OptionDoc list[] = {
        {.name = "texts", .effect = "Texts."},
        {.name = "port", .effect = "Port.", .minimum = 1},
        {.name = "bytes", .effect = "Bytes.", .unit = "bytes", .maximum = 1 << 30},
        {.name = "wait", .effect = "Wait.", .minimum = 0, .maximum = 60'000},
        {.name = "on", .effect = "On."},
        {.name = "ratio", .effect = "Ratio."},
        {.name = "mode", .effect = "Mode."},
        {.name = "number", .effect = "Number."},
        {.name = "text", .effect = "Text."},
    };
};

template <>
struct option_docs<FuzzConfig> {
    static constexpr OptionDoc list[] = {
        {.name = "name", .effect = "Name."},
        {.name = "part", .effect = "Part."},
    };
};

namespace {

std::string write_all(const FuzzConfig& config) {
    std::string text;
    for (const Option& option : options_of<FuzzConfig>().options) {
        const std::string value = option.write(&config);
        if (!value.empty()) text += option.path + " = " + value + "\n";
    }
    return text;
}

void check(const ConfigSources& sources) {
    const auto loaded = load_config<FuzzConfig>(sources);
    if (!loaded) {
        TENON_ASSERT(!loaded.error().fields().empty());
        return;
    }
    const std::string written = write_all(loaded->values);
    const auto again = load_config<FuzzConfig>({ConfigFile{"written", written}, {}, {}});
    TENON_ASSERT(again.has_value());
    TENON_ASSERT(write_all(again->values) == written);
}

// Each line that has a '=' as a variable and as a flag.
ConfigSources as_lines(std::string_view text) {
    ConfigSources sources;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        const std::size_t equals = line.find('=');
        if (equals == std::string_view::npos) continue;
        const std::string name(line.substr(0, equals));
        const std::string value(line.substr(equals + 1));
        // Files of this machine are not the fuzzer's business.
        if (!name.ends_with(file_suffix)) {
            sources.environment.emplace_back("TENON_" + name, value);
        }
        sources.flags.push_back({"--set", name, value});
    }
    return sources;
}

}  // namespace
}  // namespace tenon::runtime

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace tenon::runtime;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    check({ConfigFile{"fuzzed", std::string(text)}, {}, {}});
    ConfigSources sources = as_lines(text);
    check({std::nullopt, sources.environment, {}});
    check({std::nullopt, {}, sources.flags});
    return 0;
}
