// A key of 16 bytes, then a path: a code that is understood is the code of what it stands for.
#include <algorithm>

#include "base/assert.hpp"
#include "base/base62.hpp"
#include "base/codes.hpp"

using namespace tenon::base;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    BijectionKey key{};
    if (size < key.size()) return 0;
    std::copy_n(data, key.size(), key.begin());
    const std::string_view path(reinterpret_cast<const char*>(data) + key.size(),
                                size - key.size());
    const Bijection bijection(key);
    if (const auto number = read_code(bijection, path)) {
        TENON_ASSERT(has_code_form(path));
        TENON_ASSERT(make_code(bijection, *number) == path);
    }
    if (const auto n = decode_base62(path); n && *n < codes_total) {
        TENON_ASSERT(bijection.inverse(bijection.forward(*n)) == *n);
        TENON_ASSERT(bijection.forward(bijection.inverse(*n)) == *n);
    }
    return 0;
}
