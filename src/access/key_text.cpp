#include "access/key_text.hpp"

#include <algorithm>

#include "access/errors.hpp"
#include "base/base62.hpp"

namespace tenon::access {
namespace {

constexpr std::string_view prefix = "tnk_";
constexpr std::size_t random_digits = 43;
constexpr int checksum_digits = 6;
constexpr std::size_t text_size = 4 + random_digits + 6;
constexpr std::uint64_t checksums_total = 56'800'235'584;  // 62^6

std::string checksum_of(std::string_view body) {
    const auto digest = base::sha256(body);
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < 8; ++i) number = number << 8 | digest[i];
    return base::encode_base62(number % checksums_total, checksum_digits);
}

}  // namespace

std::string make_key_text(base::Random& random) {
    std::string text(prefix);
    for (std::size_t i = 0; i < random_digits; ++i) {
        text.push_back(base::base62_digits[random.below(base::base62_digits.size())]);
    }
    return text + checksum_of(text);
}

base::Result<void> check_key_text(std::string_view text) {
    const bool has_form = text.size() == text_size && text.starts_with(prefix) &&
                          std::ranges::all_of(text.substr(prefix.size()), [](char c) {
                              return base::base62_digits.find(c) != std::string_view::npos;
                          });
    if (!has_form) {
        return base::fail(errors::malformed_key,
                          "an API key is tnk_ and 49 letters and digits; send it as "
                          "'Authorization: Bearer tnk_...'");
    }
    const auto body = text.substr(0, prefix.size() + random_digits);
    if (text.substr(body.size()) != checksum_of(body)) {
        return base::fail(errors::malformed_key,
                          "the key has a typing error: its last six characters do not match the "
                          "rest; copy it again");
    }
    return {};
}

}  // namespace tenon::access
