#include "base/random.hpp"

#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "base/assert.hpp"

namespace tenon::base {
namespace {

/// Asks the kernel until `out` is full; a signal or a short answer only means to ask again.
void draw_from_kernel(std::span<std::uint8_t> out) {
    while (!out.empty()) {
        const ssize_t drawn = ::getrandom(out.data(), out.size(), 0);
        if (drawn < 0) {
            if (errno == EINTR) continue;
            throw std::system_error(errno, std::generic_category(), "getrandom");
        }
        out = out.subspan(static_cast<std::size_t>(drawn));
    }
}

}  // namespace

std::uint64_t Random::below(std::uint64_t bound) {
    TENON_ASSERT(bound > 0);
    // The first 2^64 mod bound values would be counted once more than the others: draw again.
    const std::uint64_t biased = (0 - bound) % bound;
    std::uint64_t drawn = next();
    while (drawn < biased) drawn = next();
    return drawn % bound;
}

void SecureRandom::fill(std::span<std::uint8_t> out) {
    if (out.size() > block_.size()) return draw_from_kernel(out);
    if (block_.size() - used_ < out.size()) {
        draw_from_kernel(block_);
        used_ = 0;
    }
    const auto first = block_.begin() + static_cast<std::ptrdiff_t>(used_);
    const auto last = first + static_cast<std::ptrdiff_t>(out.size());
    std::copy(first, last, out.begin());
    // What was handed out may be a secret: a later look at this memory must not find it.
    std::fill(first, last, std::uint8_t{0});
    used_ += out.size();
}

std::uint64_t SecureRandom::next() {
    std::array<std::uint8_t, 8> bytes{};
    fill(bytes);
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data(), bytes.size());
    return value;
}

void SeededRandom::fill(std::span<std::uint8_t> out) {
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < out.size(); ++i) {
        if (i % 8 == 0) word = next();
        out[i] = static_cast<std::uint8_t>(word);
        word >>= 8;
    }
}

}  // namespace tenon::base
