#include "base/hash.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <xxhash.h>

#include "base/assert.hpp"

namespace tenon::base {

Digest sha256(std::string_view bytes) {
    Digest digest;
    unsigned int size = 0;
    const int done =
        EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr);
    TENON_ASSERT(done == 1 && size == digest.size());
    return digest;
}

Digest hmac_sha256(std::span<const std::uint8_t> key, std::string_view bytes) {
    Digest digest;
    unsigned int size = 0;
    // A null key means "the last key" to OpenSSL, so an empty one needs an address.
    static constexpr std::uint8_t empty_key = 0;
    const auto* made = HMAC(
        EVP_sha256(), key.empty() ? &empty_key : key.data(), static_cast<int>(key.size()),
        reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data(), &size);
    TENON_ASSERT(made != nullptr && size == digest.size());
    return digest;
}

std::uint64_t hash64(std::string_view bytes) {
    return XXH3_64bits(bytes.data(), bytes.size());
}

bool equal_in_constant_time(std::string_view left, std::string_view right) {
    return left.size() == right.size() &&
           CRYPTO_memcmp(left.data(), right.data(), left.size()) == 0;
}

std::string to_hex(std::span<const std::uint8_t> bytes) {
    static constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    text.reserve(bytes.size() * 2);
    for (const std::uint8_t byte : bytes) {
        text += digits[byte >> 4];
        text += digits[byte & 15];
    }
    return text;
}

}  // namespace tenon::base
