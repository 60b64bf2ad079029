#include "services/links/codebook.hpp"

#include <algorithm>

namespace tenon::links {
namespace {

constexpr std::uint64_t lease_first = 16;
constexpr std::uint64_t lease_max = 1'024;

std::uint64_t grown(std::uint64_t last_wish) {
    return last_wish == 0 ? lease_first : std::min(last_wish * 2, lease_max);
}

}  // namespace

std::optional<std::string> CodeBook::draw(base::Bucket bucket) {
    const auto found = ranges_.find(bucket.value);
    if (found == ranges_.end()) return std::nullopt;
    auto& range = found->second;
    while (range.next < range.end) {
        const base::CodeNumber number{.k = range.next++, .slot = base::slot_of(bucket)};
        if (auto code = base::make_code(bijection_, number)) return code;
    }
    return std::nullopt;
}

void CodeBook::grant(base::Bucket bucket, std::uint64_t first_k, std::uint64_t count) {
    auto& range = ranges_[bucket.value];
    range.next = first_k;
    range.end = first_k + count;
    const auto used = in_use_.find(base::space_of(bucket).value);
    if (used != in_use_.end() && used->second.bucket == bucket) used->second.is_leased = true;
}

std::uint64_t CodeBook::wish(base::Bucket bucket) {
    // Buckets are picked anew for every range: growing each by itself would lease little for long.
    const auto used = in_use_.find(base::space_of(bucket).value);
    const bool is_in_use = used != in_use_.end() && used->second.bucket == bucket;
    auto& last_wish = is_in_use ? used->second.last_wish : ranges_[bucket.value].last_wish;
    return last_wish = grown(last_wish);
}

base::Bucket CodeBook::pick(base::Space space, base::Random& random) {
    const auto used = in_use_.find(space.value);
    if (used != in_use_.end()) {
        const auto bucket = used->second.bucket;
        const auto range = ranges_.find(bucket.value);
        const bool has_codes = range != ranges_.end() && range->second.next < range->second.end;
        // A burst that comes before the lease waits for that lease, and asks for no other.
        if (has_codes || !used->second.is_leased) return bucket;
    }
    const base::Slot slot{static_cast<std::uint16_t>(random.below(base::slots_total))};
    const auto bucket = base::bucket_of(space, slot);
    auto& in_use = in_use_[space.value];
    in_use.bucket = bucket;
    in_use.is_leased = false;
    return bucket;
}

void CodeBook::abandon(base::Bucket bucket) {
    const auto used = in_use_.find(base::space_of(bucket).value);
    if (used != in_use_.end() && used->second.bucket == bucket) in_use_.erase(used);
}

}  // namespace tenon::links
