#include "storage/decide_pending.hpp"

#include <utility>

#include "storage/errors.hpp"

namespace tenon::storage {

std::optional<Holder> judge_holder(const Hold& hold, std::int64_t own_token,
                                   std::chrono::milliseconds hold_max) {
    if (hold.holder == 0 || hold.age >= hold_max) return Holder::dead;
    if (hold.holder == own_token) return Holder::alive;
    return std::nullopt;
}

base::Result<RepeatStep> decide_pending(const SeenClaim& seen, const base::Digest& fingerprint,
                                        Holder holder) {
    auto repeat = decide_repeat(seen.claim, fingerprint);
    if (repeat) return RepeatStep::replay;
    const bool is_free = seen.hold && holder == Holder::dead;
    if (is_free && repeat.error().is(errors::claim_running)) return RepeatStep::take_over;
    return base::fail(std::move(repeat.error()));
}

}  // namespace tenon::storage
