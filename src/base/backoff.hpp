// How long to wait before the next attempt.
#pragma once

#include <chrono>

#include "base/random.hpp"

namespace tenon::base {

/// Exponential backoff with full jitter: uniform in [0, min(longest, first × 2^attempt)].
///
/// Threads: one at a time.
/// Source:  "Exponential Backoff And Jitter", AWS Architecture Blog; F76.
class Backoff {
public:
    struct Options {
        std::chrono::milliseconds first{50};       ///< ceiling of the first wait, > 0
        std::chrono::milliseconds longest{5'000};  ///< ceiling of every wait, >= first
    };
    Backoff(Options options, Random& random) : options_(options), random_(random) {}
    /// The next wait; each call doubles the ceiling until `longest`.
    [[nodiscard]] std::chrono::milliseconds next();
    /// Begins anew after a success.
    void reset() { attempt_ = 0; }

private:
    Options options_;
    Random& random_;
    int attempt_ = 0;
};

}  // namespace tenon::base
