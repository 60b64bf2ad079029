// An accepted time is within bounds, and its canonical text names the same moment.
#include "base/assert.hpp"
#include "base/rfc3339.hpp"

using namespace tenon::base;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto time = parse_time(text);
    if (!time) return 0;
    TENON_ASSERT(text.size() >= 20 && text.size() <= 35);
    const std::string canonical = format_time(*time);
    TENON_ASSERT(parse_time(canonical) == time);
    TENON_ASSERT(format_time(*parse_time(canonical)) == canonical);
    return 0;
}
