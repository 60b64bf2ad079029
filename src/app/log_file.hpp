// The log of a server without a terminal, kept within a bound.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

namespace tenon::app {

/// A file that descriptors of this process write to, and the older ones beside it.
///
/// Shape:   PATH, then PATH.1 and PATH.2, the older the higher; what is older goes. A file passes
///          `bytes_max` by what is written between two looks at it.
/// Threads: one at a time; others may write to the descriptors meanwhile and lose nothing.
class LogFile {
public:
    struct Options {
        std::uint64_t bytes_max = 8 << 20;  ///< a file this long is followed by a new one
        int kept = 2;                       ///< older files, >= 1
    };
    explicit LogFile(std::filesystem::path path) : LogFile(std::move(path), Options{}) {}
    LogFile(std::filesystem::path path, Options options);

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    /// A descriptor that appends, closed on exec; to a new file when the present one is full.
    ///
    /// Errors: throws CommandError with the reason.
    [[nodiscard]] int open() const;
    /// Lets `descriptors` write to a new file when the present one is full. Where that cannot be
    /// made they stay as they are, and the next look tries again.
    void turn(std::span<const int> descriptors) const;

private:
    [[nodiscard]] bool is_full() const;
    void shift() const;

    const std::filesystem::path path_;
    const Options options_;
};

}  // namespace tenon::app
