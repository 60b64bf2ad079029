// What no caller can act on: thrown, and caught in one place (src/http for requests, the supervisor
// for background work).
#pragma once

#include <chrono>
#include <stdexcept>
#include <string>

namespace tenon::runtime {

/// What the one who sent the work may do about a failure.
enum class Advice {
    give_up,  ///< it will fail again: answer 500
    later,    ///< nothing happened, and it may succeed later: answer 503
    repeat,   ///< the same work may succeed now (40P01, 40001, a lost connection before sending)
    split,    ///< one item of a batch is at fault (SQLSTATE class 22 or 23): send halves
};

/// The base of every exception this product throws on purpose.
class Failure : public std::runtime_error {
public:
    Failure(const std::string& what, Advice advice) : std::runtime_error(what), advice_(advice) {}
    [[nodiscard]] Advice advice() const { return advice_; }

private:
    Advice advice_;
};

/// The deadline passed before an answer came. Becomes 504.
class DeadlineExceeded final : public Failure {
public:
    explicit DeadlineExceeded(const std::string& what) : Failure(what, Advice::give_up) {}
};

/// An engine is away or its queue is full. Becomes 503 with Retry-After.
class Unavailable : public Failure {
public:
    Unavailable(const std::string& what, std::chrono::seconds retry_after,
                Advice advice = Advice::give_up)
        : Failure(what, advice), retry_after_(retry_after) {}
    [[nodiscard]] std::chrono::seconds retry_after() const { return retry_after_; }

private:
    std::chrono::seconds retry_after_;
};

/// A COMMIT was sent and its result did not come: it may or may not have happened. Becomes 503;
/// the claim settles it at the repeat.
class OutcomeUnknown final : public Unavailable {
public:
    explicit OutcomeUnknown(const std::string& what) : Unavailable(what, std::chrono::seconds(1)) {}
};

}  // namespace tenon::runtime
