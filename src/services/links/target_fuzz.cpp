// A kept target is plain ASCII, parses to itself, and a forwarded query leaves its host alone.
#include <algorithm>
#include <cstdint>

#include "base/assert.hpp"
#include "services/links/target.hpp"

using namespace tenon::links;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view url(reinterpret_cast<const char*>(data), size);
    const auto target = parse_target(url);
    if (!target) {
        TENON_ASSERT(!target.error().detail().empty());
        return 0;
    }
    TENON_ASSERT(target->size() <= target_bytes_max);
    TENON_ASSERT(target->starts_with("http://") || target->starts_with("https://"));
    TENON_ASSERT(std::ranges::all_of(*target, [](char c) { return c > 0x20 && c < 0x7f; }));

    const std::string_view host = host_of(*target);
    TENON_ASSERT(!host.empty());
    TENON_ASSERT(host.find_first_of("/\\@%#?") == std::string_view::npos);
    TENON_ASSERT(std::ranges::none_of(host, [](char c) { return c >= 'A' && c <= 'Z'; }));

    const auto again = parse_target(*target);
    TENON_ASSERT(again && *again == *target);
    TENON_ASSERT(host_of(append_query(*target, url)) == host);
    return 0;
}
