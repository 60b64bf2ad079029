// How a batch of new links is written: codes drawn, claims kept, losers answered.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "services/links/codebook.hpp"
#include "services/links/domains.hpp"
#include "services/links/store.hpp"

namespace tenon::links {

/// One link to be made.
struct CreateItem {
    base::Bucket bucket;
    Row row;  ///< an empty code is drawn in the bucket
    std::optional<runtime::Claim> claim;
    std::string caller;  ///< whose claim: an end user's subject, or empty
    std::shared_ptr<const DomainSet> domains;
    const DomainFacts* domain = nullptr;  ///< one of `domains`
};

/// A link that was made: now as its row, or at the first try under its key as it was shown then.
struct Made {
    Row row;
    std::shared_ptr<const Link> stored;  ///< null when made now, as most are
    [[nodiscard]] bool is_replayed() const { return stored != nullptr; }
};

/// Writes batches of one core for one node.
///
/// Shape:   one Result per item, in order: links.alias_taken, and the verdicts of decide_repeat
///          for items whose key was used before.
/// Cost:    one round trip for the batch; one more when codes must be leased, when keys were used
///          before, or when two items of the batch meet.
/// Threads: its core only.
/// Errors:  those of Store.
class Creator {
public:
    Creator(Store& store, CodeBook& codes) : store_(store), codes_(codes) {}
    boost::asio::awaitable<std::vector<base::Result<Made>>> run(runtime::Call& call,
                                                                std::span<const CreateItem> items);

private:
    struct Batch;
    boost::asio::awaitable<void> draw_codes(runtime::Call& call, Batch& batch);
    boost::asio::awaitable<void> write(runtime::Call& call, Batch& batch);
    boost::asio::awaitable<void> settle_losers(runtime::Call& call, Batch& batch);
    static void answer_followers(Batch& batch);

    Store& store_;
    CodeBook& codes_;
};

}  // namespace tenon::links
