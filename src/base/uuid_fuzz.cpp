// An accepted UUID is written as it was read, but for the case of its letters.
#include "base/assert.hpp"
#include "base/uuid.hpp"

using namespace tenon::base;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string text(reinterpret_cast<const char*>(data), size);
    const auto id = parse_uuid(text);
    if (!id) return 0;
    for (char& character : text) {
        if (character >= 'A' && character <= 'F') character = static_cast<char>(character + 32);
    }
    TENON_ASSERT(format_uuid(*id) == text);
    TENON_ASSERT(slot_of(*id).value < slots_total);
    return 0;
}
