// Digests that several rooms need.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tenon::base {

using Digest = std::array<std::uint8_t, 32>;

/// SHA-256 (FIPS 180-4).
[[nodiscard]] Digest sha256(std::string_view bytes);
/// HMAC-SHA256 (RFC 2104) under a key of any length.
[[nodiscard]] Digest hmac_sha256(std::span<const std::uint8_t> key, std::string_view bytes);
/// MD5 (RFC 1321), for layouts that others fixed with it; it protects nothing.
[[nodiscard]] std::array<std::uint8_t, 16> md5(std::string_view bytes);
/// XXH3-64; fast, not secret.
[[nodiscard]] std::uint64_t hash64(std::string_view bytes);
/// SipHash-2-4 of the word's 8 little-endian bytes: a keyed function whose values cannot be
/// foretold without the key, for short inputs on hot paths.
///
/// Cost:   eight mixing rounds, no allocation.
/// Source: Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012.
[[nodiscard]] std::uint64_t sip_hash64(const std::array<std::uint8_t, 16>& key, std::uint64_t word);
/// Compares without telling by its time where the first difference lies.
[[nodiscard]] bool equal_in_constant_time(std::string_view left, std::string_view right);
/// Lower-case hexadecimal.
[[nodiscard]] std::string to_hex(std::span<const std::uint8_t> bytes);

}  // namespace tenon::base
