#include "app/commands.hpp"
#include "app/config_check.hpp"
#include "app/run_state.hpp"

namespace tenon::app {

base::Result<runtime::LoadedConfig<Config>> load(const Sources& sources) {
    runtime::ConfigSources from{
        .file = std::nullopt, .environment = runtime::tenon_environment(), .flags = sources.flags};
    std::string path = sources.config_file;
    // The one name of ours that is no option: it tells where the options are.
    std::erase_if(from.environment, [&path](const auto& variable) {
        if (variable.first != "TENON_CONFIG") return false;
        if (path.empty()) path = variable.second;
        return true;
    });
    if (!path.empty()) {
        auto file = runtime::read_config_file(path);
        if (!file) return base::fail(std::move(file.error()));
        from.file = std::move(*file);
    }
    auto loaded = runtime::load_config<Config>(from);
    if (!loaded) return loaded;
    if (auto refused = check_config(*loaded)) return base::fail(std::move(*refused));
    return loaded;
}

base::Result<Config> load_for_tools(const Sources& sources) {
    auto loaded = load(sources);
    if (!loaded) return base::fail(std::move(loaded.error()));
    auto config = std::move(loaded->values);
    bool named = false;
    for (const auto& state : loaded->states) {
        named = named || (state.option->path == "postgres.conninfo" && state.origin != "default");
    }
    if (named && !sources.data_given) return config;
    if (const auto running = find_running(sources.data)) {
        config.postgres.conninfo = runtime::Secret(running->postgres);
        config.postgres.nodes = runtime::Secret(running->nodes);
        config.redis.address = running->redis;
    }
    return config;
}

}  // namespace tenon::app
