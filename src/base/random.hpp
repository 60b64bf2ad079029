// Randomness comes in from outside: secure in production, seeded in tests and drills.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>

namespace tenon::base {

/// A source of random bits.
///
/// Threads: one at a time; every core has its own.
class Random {
public:
    virtual ~Random() = default;
    /// Overwrites every byte of `out`.
    virtual void fill(std::span<std::uint8_t> out) = 0;
    /// 64 random bits.
    [[nodiscard]] virtual std::uint64_t next() = 0;
    /// Uniform in [0, bound). Expects: bound > 0.
    [[nodiscard]] std::uint64_t below(std::uint64_t bound);
};

/// Bits from the kernel (getrandom), drawn in blocks.
///
/// What was handed out is wiped from the block.
///
/// Cost: one system call per 4 KiB.
class SecureRandom final : public Random {
public:
    void fill(std::span<std::uint8_t> out) override;
    [[nodiscard]] std::uint64_t next() override;

private:
    std::array<std::uint8_t, 4096> block_{};
    std::size_t used_ = 4096;
};

/// The same bits for the same seed.
class SeededRandom final : public Random {
public:
    explicit SeededRandom(std::uint64_t seed) : engine_(seed) {}
    void fill(std::span<std::uint8_t> out) override;
    [[nodiscard]] std::uint64_t next() override { return engine_(); }

private:
    std::mt19937_64 engine_;
};

}  // namespace tenon::base
