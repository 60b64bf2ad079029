// What is decoded of a parameter is text that a database takes, and written in full it is the same.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/assert.hpp"
#include "http/parameters.hpp"
#include "runtime/json_text.hpp"

using namespace tenon;

namespace {

std::string encode(std::string_view text) {
    constexpr std::string_view digits = "0123456789aBcDeF";
    std::string encoded;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        encoded.push_back('%');
        encoded.push_back(digits[byte >> 4]);
        encoded.push_back(digits[byte & 15]);
    }
    return encoded;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    for (const bool plus_is_space : {false, true}) {
        const auto plain = http::decode_percent(text, plus_is_space);
        if (!plain) continue;
        TENON_ASSERT(plain->size() <= text.size());
        TENON_ASSERT(runtime::is_utf8(*plain) && plain->find('\0') == std::string::npos);
        TENON_ASSERT(http::decode_percent(encode(*plain), plus_is_space) == *plain);
    }
    return 0;
}
