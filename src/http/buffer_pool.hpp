// Memory for connections that have something to hold just now.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace tenon::http {

/// A piece of uninitialised memory.
struct Buffer {
    std::unique_ptr<char[]> bytes;
    std::size_t size = 0;
};

/// Buffers of one size, used last in, first out, so that a core works on warm memory and idle
/// connections hold none.
///
/// Threads: one core's.
/// Cost:    O(1); allocates only when more connections than ever before hold a buffer.
class BufferPool {
public:
    /// Keeps at most `spares_max` buffers that nobody uses.
    explicit BufferPool(std::size_t size, std::size_t spares_max = 256)
        : size_(size), spares_max_(spares_max) {}

    [[nodiscard]] Buffer take() {
        if (spares_.empty()) return {std::make_unique_for_overwrite<char[]>(size_), size_};
        Buffer buffer = std::move(spares_.back());
        spares_.pop_back();
        return buffer;
    }
    /// Takes back a buffer; one that has grown is freed.
    void give_back(Buffer buffer) {
        if (buffer.size == size_ && spares_.size() < spares_max_) {
            spares_.push_back(std::move(buffer));
        }
    }
    [[nodiscard]] std::size_t size() const { return size_; }

private:
    std::size_t size_;
    std::size_t spares_max_;
    std::vector<Buffer> spares_;
};

}  // namespace tenon::http
