#include "redis/script.hpp"

#include <openssl/evp.h>

#include <array>
#include <cstdint>

#include "base/assert.hpp"
#include "base/hash.hpp"

namespace tenon::redis {

// SHA-1 is what the server names scripts by; nothing is protected by it.
Script::Script(std::string_view source) : source_(source) {
    std::array<std::uint8_t, EVP_MAX_MD_SIZE> bytes{};
    unsigned int size = 0;
    const int done =
        EVP_Digest(source.data(), source.size(), bytes.data(), &size, EVP_sha1(), nullptr);
    TENON_ASSERT(done == 1);
    digest_ = base::to_hex(std::span(bytes).first(size));
}

}  // namespace tenon::redis
