#include "app/banner.hpp"

#include <fmt/format.h>

namespace tenon::app {

std::string banner(const BannerFacts& facts) {
    const auto& state = facts.state;
    const auto elsewhere = facts.engines == state.data
                               ? std::string()
                               : fmt::format(" (engines: {})", facts.engines.string());
    const auto stop = facts.in_background ? fmt::format("tenon stop --data {}", state.data)
                                          : std::string("Ctrl-C");
    return fmt::format(
        "Tenon is ready after {:.1f} s: {}   API: {}/docs\n"
        "data  {}{}, kept until you delete it\n"
        "stop  {}      wipe  stop, then rm -r {}\n"
        "\n"
        "export TENON_URL={} TENON_KEY={}\n"
        "curl -s $TENON_URL/v1/links -H \"Authorization: Bearer $TENON_KEY\" -H 'Content-Type: "
        "application/json' -d '{{\"url\": \"https://example.com/\", \"alias\": \"first\"}}'\n"
        "curl -si $TENON_URL/first\n"
        "curl -s $TENON_URL/v1/links -H \"Authorization: Bearer $TENON_KEY\"\n",
        static_cast<double>(facts.took.count()) / 1000, state.url, state.url, state.data, elsewhere,
        stop, state.data, state.url, state.key);
}

}  // namespace tenon::app
