#include "base/hash.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <xxhash.h>

#include <bit>
#include <memory>

#include "base/assert.hpp"

namespace tenon::base {
namespace {

struct SipState {
    std::uint64_t v0, v1, v2, v3;

    void mix() {
        v0 += v1;
        v2 += v3;
        v1 = std::rotl(v1, 13) ^ v0;
        v3 = std::rotl(v3, 16) ^ v2;
        v0 = std::rotl(v0, 32);
        v2 += v1;
        v0 += v3;
        v1 = std::rotl(v1, 17) ^ v2;
        v3 = std::rotl(v3, 21) ^ v0;
        v2 = std::rotl(v2, 32);
    }

    void absorb(std::uint64_t word) {
        v3 ^= word;
        mix();
        mix();
        v0 ^= word;
    }
};

std::uint64_t read_little_endian(const std::uint8_t* bytes) {
    std::uint64_t word = 0;
    for (int i = 7; i >= 0; --i) word = (word << 8) | bytes[i];
    return word;
}

/// Looking an algorithm up and making a context cost more than hashing a short text, so callers
/// keep the first and a thread the second.
void digest_into(std::span<std::uint8_t> out, const EVP_MD* algorithm, std::string_view bytes) {
    thread_local const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(
        EVP_MD_CTX_new(), &EVP_MD_CTX_free);
    unsigned int size = 0;
    const bool done = EVP_DigestInit_ex(context.get(), algorithm, nullptr) == 1 &&
                      EVP_DigestUpdate(context.get(), bytes.data(), bytes.size()) == 1 &&
                      EVP_DigestFinal_ex(context.get(), out.data(), &size) == 1;
    TENON_ASSERT(done && size == out.size());
}

}  // namespace

Digest sha256(std::string_view bytes) {
    static EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
    Digest digest;
    digest_into(digest, algorithm, bytes);
    return digest;
}

std::array<std::uint8_t, 16> md5(std::string_view bytes) {
    static EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "MD5", nullptr);
    std::array<std::uint8_t, 16> digest{};
    digest_into(digest, algorithm, bytes);
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

std::uint64_t sip_hash64(const std::array<std::uint8_t, 16>& key, std::uint64_t word) {
    const std::uint64_t k0 = read_little_endian(key.data());
    const std::uint64_t k1 = read_little_endian(key.data() + 8);
    SipState state{k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261,
                   k1 ^ 0x7465646279746573};
    state.absorb(word);
    state.absorb(std::uint64_t{8} << 56);  // the closing block: the length, no bytes left over
    state.v2 ^= 0xff;
    for (int round = 0; round < 4; ++round) state.mix();
    return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

bool equal_in_constant_time(std::string_view left, std::string_view right) {
    return left.size() == right.size() &&
           CRYPTO_memcmp(left.data(), right.data(), left.size()) == 0;
}

std::string to_hex(std::span<const std::uint8_t> bytes) {
    static constexpr std::string_view digits = "0123456789abcdef";
    std::string text(bytes.size() * 2, '\0');
    char* out = text.data();
    for (const std::uint8_t byte : bytes) {
        *out++ = digits[byte >> 4];
        *out++ = digits[byte & 15];
    }
    return text;
}

}  // namespace tenon::base
