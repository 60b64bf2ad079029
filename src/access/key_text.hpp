// The text of an API key: random, and with a checksum that tells a typing error at once.
#pragma once

#include <string>
#include <string_view>

#include "base/hash.hpp"
#include "base/random.hpp"
#include "base/result.hpp"

namespace tenon::access {

/// A new key: `tnk_`, 43 base62 digits (256 random bits) and 6 digits of checksum.
///
/// Expects: a `random` that nobody can guess.
[[nodiscard]] std::string make_key_text(base::Random& random);

/// Errors: access.malformed_key, which says whether the form or the checksum is wrong.
[[nodiscard]] base::Result<void> check_key_text(std::string_view text);

/// What is stored instead of the text. A key is random, so no salt and no slow hash is needed.
[[nodiscard]] inline base::Digest digest_of_key(std::string_view text) {
    return base::sha256(text);
}

}  // namespace tenon::access
