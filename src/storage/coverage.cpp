#include "storage/coverage.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "base/assert.hpp"

namespace tenon::storage {

namespace {

// Enough to look into; a whole space would fill the log.
constexpr std::size_t shown_max = 16;

/// Who served a bucket.
struct Seen {
    std::size_t total = 0;
    Node node;
    std::int64_t epoch = 0;
};

const Owned* asked_of(std::span<const Owned> asked, Node node) {
    const auto found = std::ranges::find(asked, node, &Owned::node);
    return found == asked.end() ? nullptr : &*found;
}

bool is_as_asked(std::span<const Owned> asked, const ServedPart& part) {
    const Owned* owned = asked_of(asked, part.node);
    return owned != nullptr && part.digest == owned->digest &&
           std::cmp_equal(part.total, owned->pairs.size());
}

std::map<base::Bucket, Seen> seen_by_bucket(std::span<const Owned> asked,
                                            std::span<const ServedPart> parts) {
    std::map<base::Bucket, Seen> seen;
    for (const ServedPart& part : parts) {
        const bool is_same = is_as_asked(asked, part);
        for (const auto& pair : is_same ? asked_of(asked, part.node)->pairs : part.pairs) {
            auto& one = seen[pair.bucket];
            one = {.total = one.total + 1, .node = part.node, .epoch = pair.epoch};
        }
    }
    return seen;
}

void describe(std::string& text, const std::vector<base::Bucket>& buckets, std::string_view what) {
    if (buckets.empty()) return;
    std::vector<std::int32_t> shown;
    for (const base::Bucket bucket : buckets) {
        if (shown.size() == shown_max) break;
        shown.push_back(bucket.value);
    }
    text += fmt::format("{}bucket {}{} {}", text.empty() ? "" : "; ", fmt::join(shown, ", "),
                        buckets.size() > shown_max ? ", ..." : "", what);
}

}  // namespace

base::Digest digest_of(std::span<const ServedBucket> pairs) {
    fmt::memory_buffer text;
    for (const ServedBucket& pair : pairs) {
        fmt::format_to(std::back_inserter(text), "{}{}:{}", text.size() == 0 ? "" : ",",
                       pair.bucket.value, pair.epoch);
    }
    return base::sha256({text.data(), text.size()});
}

Owned make_owned(Node node, std::vector<ServedBucket> pairs) {
    Owned owned{.node = node, .pairs = std::move(pairs), .bits = {}, .digest = {}};
    TENON_ASSERT(std::ranges::is_sorted(owned.pairs, {}, &ServedBucket::bucket));
    for (const ServedBucket& pair : owned.pairs) {
        const auto bucket = static_cast<std::size_t>(pair.bucket.value);
        if (owned.bits.size() <= bucket / 8) owned.bits.resize(bucket / 8 + 1);
        auto& byte = owned.bits[bucket / 8];
        byte = static_cast<std::uint8_t>(byte | 1U << bucket % 8);
    }
    owned.digest = digest_of(owned.pairs);
    return owned;
}

std::vector<Owned> owned_by_nodes(const Map& map) {
    std::vector<Owned> all;
    for (std::uint32_t index = 0; index < map.nodes().size(); ++index) {
        std::vector<ServedBucket> pairs;
        for (const base::Bucket bucket : map.buckets_of(Node{index})) {
            pairs.push_back({.bucket = bucket, .epoch = map.place_of(bucket).epoch});
        }
        if (!pairs.empty()) all.push_back(make_owned(Node{index}, std::move(pairs)));
    }
    return all;
}

std::vector<base::Bucket> Gaps::all() const {
    std::vector<base::Bucket> buckets;
    for (const auto* some : {&missing, &repeated, &differing}) {
        buckets.insert(buckets.end(), some->begin(), some->end());
    }
    std::ranges::sort(buckets);
    return buckets;
}

Gaps judge_coverage(std::span<const Owned> asked, std::span<const ServedPart> parts) {
    const auto is_whole = [&](const ServedPart& part) { return is_as_asked(asked, part); };
    if (parts.size() == asked.size() && std::ranges::all_of(parts, is_whole)) return {};
    auto seen = seen_by_bucket(asked, parts);
    Gaps gaps;
    for (const Owned& owned : asked) {
        for (const ServedBucket& pair : owned.pairs) {
            const auto found = seen.find(pair.bucket);
            if (found == seen.end()) {
                gaps.missing.push_back(pair.bucket);
                continue;
            }
            const Seen one = found->second;
            seen.erase(found);
            if (one.total > 1) {
                gaps.repeated.push_back(pair.bucket);
            } else if (one.node != owned.node || one.epoch != pair.epoch) {
                gaps.differing.push_back(pair.bucket);
            }
        }
    }
    // What is left was asked of nobody: the nodes know a newer map.
    for (const auto& [bucket, one] : seen) {
        (one.total > 1 ? gaps.repeated : gaps.differing).push_back(bucket);
    }
    for (auto* some : {&gaps.missing, &gaps.repeated, &gaps.differing}) std::ranges::sort(*some);
    return gaps;
}

std::string describe_gaps(const Gaps& gaps) {
    std::string text;
    describe(text, gaps.missing, "missing");
    describe(text, gaps.repeated, "served twice");
    describe(text, gaps.differing, "served under another map");
    return text;
}

}  // namespace tenon::storage
