// Looks at the input as a cursor, as the body of a cursor with a right seal, as base64url and as
// the values of a cursor. Values are split at NUL.
#include "base/assert.hpp"
#include "base/cursor.hpp"
#include "base/hash.hpp"

using namespace tenon::base;

namespace {

constexpr SealKey key{7};
constexpr std::string_view binding = "project/list";

/// A hostile body under a right seal: reaches what stands behind the signature.
std::string seal_body(std::string_view body) {
    std::string sealed(body.substr(0, 1));
    sealed += {'\0', '\0', '\0', static_cast<char>(binding.size())};
    sealed += binding;
    sealed += body.substr(1);
    const Digest digest = hmac_sha256(key, sealed);
    return encode_base64url(std::string(body) +
                            std::string(reinterpret_cast<const char*>(digest.data()), 16));
}

void check_values(const CursorSealer& sealer, std::string_view text) {
    std::vector<std::string> values;
    std::size_t bytes = 2;
    for (const char character : text) {
        if (values.empty() || character == '\0') {
            values.emplace_back();
            bytes += 2;
        }
        values.back() += character;
        ++bytes;
    }
    if (bytes > 1'519) return;
    TENON_ASSERT(sealer.open(binding, sealer.seal(binding, values)).value() == values);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const CursorSealer sealer(key);
    if (const auto bytes = decode_base64url(text)) TENON_ASSERT(encode_base64url(*bytes) == text);
    TENON_ASSERT(decode_base64url(encode_base64url(text)) == text);
    if (const auto values = sealer.open(binding, text)) {
        TENON_ASSERT(sealer.seal(binding, *values) == text);
    }
    if (!text.empty()) {
        const std::string cursor = seal_body(text);
        if (const auto values = sealer.open(binding, cursor)) {
            TENON_ASSERT(sealer.seal(binding, *values) == cursor);
        }
    }
    check_values(sealer, text);
    return 0;
}
