// What the fence refused.
#pragma once

#include <string>
#include <vector>

#include "base/slot.hpp"
#include "postgres/failure.hpp"
#include "runtime/failure.hpp"
#include "storage/coverage.hpp"

namespace tenon::storage {

/// storage.moved: some buckets are not (active, epoch) at the node that the map names; nothing of
/// the transaction happened. Becomes 503 with Retry-After: 1, by when the map will have changed. A
/// batch that meets it is sent again in halves, so that only the items of those buckets fail.
class BucketsMoved final : public runtime::Unavailable {
public:
    BucketsMoved(const std::string& node, std::vector<base::Bucket> buckets);
    /// Those refused, in the order in which they were asked for; the others were not at fault.
    [[nodiscard]] const std::vector<base::Bucket>& buckets() const { return buckets_; }

private:
    std::vector<base::Bucket> buckets_;
};

/// storage.not_covered: the nodes' answers do not cover every bucket exactly once, and asking again
/// did not mend it in time. Becomes 503 with Retry-After: 1.
class NotCovered final : public runtime::Unavailable {
public:
    explicit NotCovered(const Gaps& gaps);
    [[nodiscard]] const Gaps& gaps() const { return gaps_; }

private:
    Gaps gaps_;
};

/// The buckets that TN001 names in its detail: "17,42".
[[nodiscard]] std::vector<base::Bucket> read_refused_buckets(const std::string& detail);

}  // namespace tenon::storage
