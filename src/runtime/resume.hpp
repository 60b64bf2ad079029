// A suspended coroutine as a value: kept inline, resumed once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

namespace tenon::runtime {

/// Why a wait ended.
enum class Wake : std::uint8_t {
    ready,      ///< what was waited for is there
    expired,    ///< the waiter's deadline passed
    cancelled,  ///< the waiter's coroutine was cancelled
};

/// Holds the completion handler of one suspended coroutine without allocation.
///
/// Owns:    the coroutine: dropping a filled Resume destroys it.
/// Threads: the coroutine's core only.
class Resume {
public:
    Resume() = default;
    Resume(const Resume&) = delete;
    Resume& operator=(const Resume&) = delete;
    ~Resume() { drop(); }

    /// Expects: it is empty.
    template <class Handler>
    void fill(Handler handler) {
        static_assert(sizeof(Handler) <= sizeof storage_);
        static_assert(alignof(Handler) <= alignof(void*));
        static_assert(std::is_nothrow_move_constructible_v<Handler>);
        ::new (static_cast<void*>(storage_)) Handler(std::move(handler));
        act_ = [](void* storage, const Wake* wake) {
            auto* const held = static_cast<Handler*>(storage);
            // The storage lies in the coroutine's own frame, which may end while it runs.
            Handler moved(std::move(*held));
            held->~Handler();
            if (wake != nullptr) std::move(moved)(*wake);
        };
    }
    [[nodiscard]] bool filled() const { return act_ != nullptr; }
    /// Runs the coroutine until it suspends again or ends. Expects: it is filled.
    void operator()(Wake wake) { std::exchange(act_, nullptr)(storage_, &wake); }
    /// Destroys the coroutine that is held, if any.
    void drop() {
        if (act_ != nullptr) std::exchange(act_, nullptr)(storage_, nullptr);
    }

private:
    alignas(void*) std::byte storage_[4 * sizeof(void*)]{};
    void (*act_)(void* storage, const Wake* wake) = nullptr;
};

}  // namespace tenon::runtime
