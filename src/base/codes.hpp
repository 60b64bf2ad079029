// Short codes: consecutive numbers become unguessable codes that name their own slot.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/slot.hpp"

namespace tenon::base {

/// 62^7, the size of the code space.
inline constexpr std::uint64_t codes_total = 3'521'614'606'208;
/// How many digits a code has.
inline constexpr int code_width = 7;

/// Made once for a deployment and kept for ever: see Bijection.
using BijectionKey = std::array<std::uint8_t, 16>;

/// A keyed permutation of [0, 62^7): Feistel network over 42 bits with cycle walking.
///
/// This mapping is data: codes that were handed out name their slot by it. It never changes, and
/// fixed vectors in codes_test.cpp hold it. With L and R the high and low 21 bits of the number and
/// F(i, x) the low 21 bits of SipHash-2-4 of the word i × 2^32 + x, the rounds i = 0 .. 7 are
/// (L, R) := (R, L xor F(i, R)), and the image is L × 2^21 + R. An image of 62^7 or more is mapped
/// again until it lies below.
///
/// Shape:   forward and inverse undo each other for every key.
/// Cost:    eight SipHash per walk, 1.25 walks on average; no allocation.
/// Threads: any; immutable.
class Bijection {
public:
    explicit Bijection(const BijectionKey& key) : key_(key) {}
    /// Expects: number < codes_total.
    [[nodiscard]] std::uint64_t forward(std::uint64_t number) const;
    /// The number whose image this is. Expects: image < codes_total.
    [[nodiscard]] std::uint64_t inverse(std::uint64_t image) const;

private:
    BijectionKey key_;
};

/// What a code of 7 digits stands for: the k-th code of a slot.
struct CodeNumber {
    std::uint64_t k = 0;  ///< 0 .. codes_per_slot - 1
    Slot slot;
    auto operator<=>(const CodeNumber&) const = default;
};

/// How many whole k every slot has; the last, partial k is never used.
inline constexpr std::uint64_t codes_per_slot = codes_total / slots_total;

/// True for 7 base62 digits with at least one digit 0-9 and one capital: an alias never looks so.
[[nodiscard]] bool has_code_form(std::string_view path);

/// The code of (k, slot), or nullopt when its text has not the form of a code and is skipped.
[[nodiscard]] std::optional<std::string> make_code(const Bijection& bijection, CodeNumber number);

/// What a text of code form stands for; nullopt without the form or beyond codes_per_slot.
[[nodiscard]] std::optional<CodeNumber> read_code(const Bijection& bijection,
                                                  std::string_view code);

}  // namespace tenon::base
