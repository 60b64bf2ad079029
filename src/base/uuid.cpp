#include "base/uuid.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "base/hash.hpp"

namespace tenon::base {
namespace {

/// Where the hyphens of the 36-character form stand.
constexpr bool is_hyphen_place(std::size_t place) {
    return place == 8 || place == 13 || place == 18 || place == 23;
}

/// The value of a hexadecimal digit, or -1.
constexpr int hex_value(char digit) {
    if (digit >= '0' && digit <= '9') return digit - '0';
    if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
    if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
    return -1;
}

void put_big_endian(std::uint8_t* out, std::uint64_t value, int bytes) {
    for (int i = bytes - 1; i >= 0; --i) {
        out[i] = static_cast<std::uint8_t>(value);
        value >>= 8;
    }
}

Uuid assemble(std::int64_t milliseconds, Slot slot, std::uint64_t counter) {
    Uuid id;
    put_big_endian(id.bytes.data(), static_cast<std::uint64_t>(milliseconds), 6);
    const std::uint64_t rand_a = (std::uint64_t{slot.value} << 2) | (counter >> 62);
    put_big_endian(id.bytes.data() + 6, 0x7000 | rand_a, 2);
    const std::uint64_t low = counter & ((std::uint64_t{1} << 62) - 1);
    put_big_endian(id.bytes.data() + 8, (std::uint64_t{1} << 63) | low, 8);
    return id;
}

}  // namespace

std::string format_uuid(const Uuid& id) {
    std::string text = to_hex(id.bytes);
    for (const std::size_t place : {8u, 13u, 18u, 23u}) text.insert(place, 1, '-');
    return text;
}

std::optional<Uuid> parse_uuid(std::string_view text) {
    if (text.size() != 36) return std::nullopt;
    Uuid id;
    std::size_t digits = 0;
    for (std::size_t place = 0; place < text.size(); ++place) {
        if (is_hyphen_place(place)) {
            if (text[place] != '-') return std::nullopt;
            continue;
        }
        const int value = hex_value(text[place]);
        if (value < 0) return std::nullopt;
        std::uint8_t& byte = id.bytes[digits / 2];
        byte = static_cast<std::uint8_t>((byte << 4) | value);
        ++digits;
    }
    return id;
}

Uuid make_uuid_v4(Random& random) {
    Uuid id;
    random.fill(id.bytes);
    id.bytes[6] = static_cast<std::uint8_t>((id.bytes[6] & 0x0f) | 0x40);
    id.bytes[8] = static_cast<std::uint8_t>((id.bytes[8] & 0x3f) | 0x80);
    return id;
}

Slot slot_of(const Uuid& v7) {
    const int high = (v7.bytes[6] & 0x0f) << 6;
    return {static_cast<std::uint16_t>(high | (v7.bytes[7] >> 2))};
}

Time time_of(const Uuid& v7) {
    std::int64_t milliseconds = 0;
    for (std::size_t i = 0; i < 6; ++i) milliseconds = (milliseconds << 8) | v7.bytes[i];
    return Time(std::chrono::milliseconds(milliseconds));
}

Uuid UuidV7Generator::next(Slot slot) {
    TENON_ASSERT(slot.value < slots_total);
    const auto reading = std::chrono::floor<std::chrono::milliseconds>(clock_.now());
    const std::int64_t now = std::clamp<std::int64_t>(reading.time_since_epoch().count(), 0,
                                                      (std::int64_t{1} << 48) - 1);
    latest_reading_ = std::max(latest_reading_, now);

    Last& last = last_[slot.value];
    if (now > last.milliseconds) {
        last = {now, seed_counter()};
        return assemble(last.milliseconds, slot, last.counter);
    }
    // The same millisecond, or the clock stepped back: count on where the last id stands.
    const std::uint64_t step = 1 + (random_.next() >> (64 - step_bits));
    if (last.counter > UINT64_MAX - step) {
        last = {last.milliseconds + 1, seed_counter()};
        TENON_ASSERT(last.milliseconds - latest_reading_ <= lead_max.count());
    } else {
        last.counter += step;
    }
    return assemble(last.milliseconds, slot, last.counter);
}

std::uint64_t UuidV7Generator::seed_counter() {
    // The highest bit stays free: head room for at least 2^(63 - step_bits) ids.
    return random_.next() >> 1;
}

}  // namespace tenon::base

std::size_t std::hash<tenon::base::Uuid>::operator()(const tenon::base::Uuid& id) const noexcept {
    return tenon::base::hash64({reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size()});
}
