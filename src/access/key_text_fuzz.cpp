// A made key is accepted, and no other text of its length that differs in one place.
#include <cstdint>
#include <string>

#include "access/key_text.hpp"
#include "base/assert.hpp"

using namespace tenon;

// Three bytes make a key and change it; more are a text of a client's.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    if (size != 3) {
        if (access::check_key_text(text)) TENON_ASSERT(text.starts_with("tnk_") && size == 53);
        return 0;
    }
    base::SeededRandom random(data[0]);
    std::string key = access::make_key_text(random);
    TENON_ASSERT(access::check_key_text(key).has_value());
    char& place = key[data[1] % key.size()];
    const bool same = place == static_cast<char>(data[2]);
    place = static_cast<char>(data[2]);
    TENON_ASSERT(access::check_key_text(key).has_value() == same);
    return 0;
}
