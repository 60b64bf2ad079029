#include "base/cursor.hpp"

#include "base/assert.hpp"
#include "base/errors.hpp"
#include "base/hash.hpp"

namespace tenon::base {
namespace {

constexpr char version = 1;
constexpr std::size_t seal_bytes = 16;
constexpr std::size_t body_bytes_max = cursor_bytes_max / 4 * 3 - seal_bytes;
constexpr std::string_view base64url_digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// The value of a digit of base64url, or -1.
constexpr int base64url_value(char digit) {
    if (digit >= 'A' && digit <= 'Z') return digit - 'A';
    if (digit >= 'a' && digit <= 'z') return digit - 'a' + 26;
    if (digit >= '0' && digit <= '9') return digit - '0' + 52;
    if (digit == '-') return 62;
    return digit == '_' ? 63 : -1;
}

void append_big_endian(std::string& out, std::size_t value, int bytes) {
    for (int shift = (bytes - 1) * 8; shift >= 0; shift -= 8) {
        out += static_cast<char>(static_cast<unsigned char>(value >> shift));
    }
}

/// The truncated HMAC over everything that a cursor says and belongs to.
std::string seal_of(const SealKey& key, std::string_view binding, std::string_view body) {
    std::string sealed;
    sealed.reserve(body.size() + binding.size() + 4);
    sealed += body.substr(0, 1);
    append_big_endian(sealed, binding.size(), 4);
    sealed += binding;
    sealed += body.substr(1);
    const Digest digest = hmac_sha256(key, sealed);
    return {reinterpret_cast<const char*>(digest.data()), seal_bytes};
}

/// Reads values until nothing is left; nullopt when a length leads beyond the end.
std::optional<std::vector<std::string>> read_values(std::string_view bytes) {
    std::vector<std::string> values;
    while (!bytes.empty()) {
        if (bytes.size() < 2) return std::nullopt;
        const std::size_t size = static_cast<std::size_t>(static_cast<unsigned char>(bytes[0]))
                                     << 8 |
                                 static_cast<unsigned char>(bytes[1]);
        bytes.remove_prefix(2);
        if (bytes.size() < size) return std::nullopt;
        values.emplace_back(bytes.substr(0, size));
        bytes.remove_prefix(size);
    }
    return values;
}

std::unexpected<Error> refuse() {
    return fail(errors::invalid_cursor,
                "The cursor is damaged or was made for another list, filter or order. Send "
                "next_cursor unchanged with the query it came from, or begin without a cursor.");
}

}  // namespace

std::string CursorSealer::seal(std::string_view binding,
                               const std::vector<std::string>& values) const {
    std::string body(1, version);
    for (const std::string& value : values) {
        TENON_ASSERT(value.size() <= body_bytes_max);
        append_big_endian(body, value.size(), 2);
        body += value;
    }
    TENON_ASSERT(body.size() <= body_bytes_max);
    return encode_base64url(body + seal_of(key_, binding, body));
}

Result<std::vector<std::string>> CursorSealer::open(std::string_view binding,
                                                    std::string_view cursor) const {
    if (cursor.size() > cursor_bytes_max) return refuse();
    const auto bytes = decode_base64url(cursor);
    if (!bytes || bytes->size() < 1 + seal_bytes || bytes->front() != version) return refuse();
    const std::string_view body = std::string_view(*bytes).substr(0, bytes->size() - seal_bytes);
    const std::string_view seal = std::string_view(*bytes).substr(body.size());
    if (!equal_in_constant_time(seal, seal_of(key_, binding, body))) return refuse();
    auto values = read_values(body.substr(1));
    if (!values) return refuse();
    return std::move(*values);
}

std::string encode_base64url(std::string_view bytes) {
    std::string text;
    text.reserve((bytes.size() * 4 + 2) / 3);
    unsigned int pending = 0;
    int pending_bits = 0;
    for (const char byte : bytes) {
        pending = (pending << 8 | static_cast<unsigned char>(byte)) & 0xffff;
        for (pending_bits += 8; pending_bits >= 6; pending_bits -= 6) {
            text += base64url_digits[pending >> (pending_bits - 6) & 63];
        }
    }
    if (pending_bits > 0) text += base64url_digits[pending << (6 - pending_bits) & 63];
    return text;
}

std::optional<std::string> decode_base64url(std::string_view text) {
    if (text.size() % 4 == 1) return std::nullopt;
    std::string bytes;
    bytes.reserve(text.size() / 4 * 3 + 2);
    unsigned int pending = 0;
    int pending_bits = 0;
    for (const char digit : text) {
        const int value = base64url_value(digit);
        if (value < 0) return std::nullopt;
        pending = (pending << 6 | static_cast<unsigned int>(value)) & 0xffff;
        pending_bits += 6;
        if (pending_bits < 8) continue;
        pending_bits -= 8;
        bytes += static_cast<char>(static_cast<unsigned char>(pending >> pending_bits));
    }
    // Two texts for the same bytes would be two names of one thing.
    if ((pending & ((1u << pending_bits) - 1)) != 0) return std::nullopt;
    return bytes;
}

}  // namespace tenon::base
