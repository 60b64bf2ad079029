// Numbers and typed ids: what is accepted is what would have been written.
#include "base/assert.hpp"
#include "base/base62.hpp"

using namespace tenon::base;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    if (const auto value = decode_base62(text)) {
        const std::size_t first = text.find_first_not_of('0');
        const auto shortest = first == std::string_view::npos ? "0" : text.substr(first);
        TENON_ASSERT(encode_base62(*value) == shortest);
    }
    for (const std::string_view prefix : {"acc", "lnk"}) {
        if (const auto id = parse_id(prefix, text)) TENON_ASSERT(format_id(prefix, *id) == text);
    }
    return 0;
}
