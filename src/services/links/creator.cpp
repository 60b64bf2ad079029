#include "services/links/creator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "runtime/failure.hpp"
#include "runtime/json.hpp"
#include "services/links/decide.hpp"
#include "services/links/errors.hpp"
#include "storage/claims.hpp"

namespace tenon::links {

using boost::asio::awaitable;

namespace {

/// Rounds before a batch is given up; each settles at least one item, save for interference.
constexpr int rounds_max = 64;

using ClaimName = std::tuple<base::Bucket, base::Uuid, std::string_view, std::string_view>;

ClaimName claim_name(const CreateItem& item) {
    return {item.bucket, item.row.project, item.caller, item.claim->key};
}

base::Result<Made> refuse_alias(const CreateItem& item) {
    return base::fail(errors::alias_taken,
                      fmt::format("'{}' is another link's on {}; choose another alias",
                                  item.row.code, item.domain->host));
}

base::Result<Made> repeat(const storage::StoredClaim& stored, const CreateItem& item) {
    auto same = storage::decide_repeat(stored, item.claim->fingerprint);
    if (!same) return base::fail(std::move(same.error()));
    auto link = runtime::from_json<Link>(same->answer);
    if (!link) return base::fail(std::move(link.error()));
    return Made{.row = {}, .stored = std::make_shared<const Link>(std::move(*link))};
}

/// What a repeat within the batch gets: what its leader got, as a repeat is shown it.
base::Result<Made> follow(const base::Result<Made>& led, const CreateItem& leader) {
    if (!led || led->is_replayed()) return led;
    return Made{.row = {}, .stored = std::make_shared<const Link>(show(led->row, *leader.domain))};
}

}  // namespace

/// The state of one run: what is not settled yet, and what the present round sends.
struct Creator::Batch {
    /// An item that meets an earlier one of the batch.
    struct Follower {
        std::size_t item;
        std::size_t leader;
    };
    std::span<const CreateItem> items;
    std::vector<std::optional<base::Result<Made>>> verdicts;
    std::vector<Row> rows;
    bool is_committed = false;         ///< some of its links may be there
    std::vector<std::size_t> round;    ///< items of this round
    std::vector<std::size_t> losers;   ///< items whose claim or name was there before
    std::vector<Follower> same_claim;  ///< answered as their leader is, where the body is the same
    std::vector<Follower> same_alias;  ///< cannot be made once their leader's name is taken

    explicit Batch(std::span<const CreateItem> all) : items(all), verdicts(all.size()) {
        rows.reserve(all.size());
        for (const auto& item : all) rows.push_back(item.row);
    }
    [[nodiscard]] bool drawn(std::size_t i) const { return items[i].row.code.empty(); }
    [[nodiscard]] bool settled() const {
        return std::ranges::all_of(verdicts,
                                   [](const auto& verdict) { return verdict.has_value(); });
    }

    /// Items that share neither claim nor alias; the others follow the one they meet.
    void choose_round() {
        std::map<ClaimName, std::size_t> claims;
        std::map<RowName, std::size_t> aliases;
        round.clear();
        losers.clear();
        same_claim.clear();
        same_alias.clear();
        for (std::size_t i = 0; i < items.size(); ++i) {
            if (verdicts[i]) continue;
            if (items[i].claim) {
                const auto [leader, first] = claims.emplace(claim_name(items[i]), i);
                if (!first) {
                    same_claim.push_back({i, leader->second});
                    continue;
                }
            }
            if (!drawn(i)) {
                const auto [leader, first] = aliases.emplace(name_of(items[i].row), i);
                if (!first) {
                    same_alias.push_back({i, leader->second});
                    continue;
                }
            }
            round.push_back(i);
        }
    }

    void make(std::size_t i) { verdicts[i] = Made{.row = std::move(rows[i]), .stored = {}}; }
};

awaitable<std::vector<base::Result<Made>>> Creator::run(runtime::Call& call,
                                                        std::span<const CreateItem> items) {
    Batch batch(items);
    for (int round = 0; !batch.settled(); ++round) {
        if (round == rounds_max) {
            throw runtime::Unavailable("links: a batch met too many others",
                                       std::chrono::seconds(1));
        }
        batch.choose_round();
        try {
            co_await draw_codes(call, batch);
            co_await write(call, batch);
            co_await settle_losers(call, batch);
        } catch (const runtime::Failure& failure) {
            if (!batch.is_committed) throw;
            // A transaction of this batch was committed: whoever repeats the whole batch would make
            // its links twice. The claims tell at the repeat; a link without one may have been
            // made.
            throw runtime::OutcomeUnknown(failure.what());
        }
        answer_followers(batch);
    }
    std::vector<base::Result<Made>> verdicts;
    verdicts.reserve(items.size());
    for (auto& verdict : batch.verdicts) verdicts.push_back(std::move(*verdict));
    co_return verdicts;
}

awaitable<void> Creator::draw_codes(runtime::Call& call, Batch& batch) {
    std::vector<std::size_t> without;
    for (const auto i : batch.round) {
        if (batch.drawn(i)) without.push_back(i);
    }
    while (!without.empty()) {
        std::vector<std::size_t> missing;
        std::map<base::Bucket, std::int64_t> short_of;
        for (const auto i : without) {
            const auto bucket = batch.items[i].bucket;
            if (auto code = codes_.draw(bucket)) {
                batch.rows[i].code = std::move(*code);
            } else {
                missing.push_back(i);
                ++short_of[bucket];
            }
        }
        std::vector<Lease> wishes;
        for (const auto& [bucket, count] : short_of) {
            const auto wish = std::max(codes_.wish(bucket), static_cast<std::uint64_t>(2 * count));
            wishes.push_back({.bucket = bucket, .count = static_cast<std::int64_t>(wish)});
        }
        if (!wishes.empty()) {
            for (const auto& lease : co_await store_.lease(call, std::move(wishes))) {
                const auto end = static_cast<std::uint64_t>(lease.first_k + lease.count);
                if (end > codes_per_slot_bound) {
                    codes_.abandon(lease.bucket);
                    throw runtime::Unavailable("links: a slot has handed out all its codes",
                                               std::chrono::seconds(60));
                }
                codes_.grant(lease.bucket, static_cast<std::uint64_t>(lease.first_k),
                             static_cast<std::uint64_t>(lease.count));
            }
        }
        without = std::move(missing);
    }
}

awaitable<void> Creator::write(runtime::Call& call, Batch& batch) {
    std::vector<Draft> drafts;
    drafts.reserve(batch.round.size());
    for (const auto i : batch.round) {
        const auto& item = batch.items[i];
        Draft draft{.bucket = item.bucket,
                    .row = std::move(batch.rows[i]),
                    .is_drawn = batch.drawn(i),
                    .claim = std::nullopt};
        if (item.claim) {
            draft.claim = KeyedClaim{.caller = item.caller,
                                     .key = item.claim->key,
                                     .fingerprint = item.claim->fingerprint,
                                     .answer = runtime::to_json(show(draft.row, *item.domain))};
        }
        drafts.push_back(std::move(draft));
    }
    const auto written = co_await store_.insert(call, drafts);
    batch.is_committed = true;
    for (std::size_t place = 0; place < written.size(); ++place) {
        const auto i = batch.round[place];
        batch.rows[i] = std::move(drafts[place].row);
        if (written[place] == Written::made) batch.make(i);
        if (written[place] == Written::not_made) batch.losers.push_back(i);
        if (written[place] == Written::taken_meanwhile && !batch.drawn(i)) {
            batch.verdicts[i] = refuse_alias(batch.items[i]);
        }
    }
    for (const auto& [item, leader] : batch.same_alias) {
        const bool taken = batch.verdicts[leader] ||
                           (std::ranges::find(batch.losers, leader) != batch.losers.end());
        if (taken) batch.losers.push_back(item);
    }
}

awaitable<void> Creator::settle_losers(runtime::Call& call, Batch& batch) {
    std::vector<storage::ClaimKey> names;
    std::vector<std::size_t> keyed;
    for (const auto i : batch.losers) {
        const auto& item = batch.items[i];
        if (!item.claim) {
            // A drawn code that is taken is drawn anew; an alias is another's.
            if (!batch.drawn(i)) batch.verdicts[i] = refuse_alias(item);
            continue;
        }
        keyed.push_back(i);
        names.push_back({.bucket = item.bucket,
                         .project = item.row.project,
                         .caller = item.caller,
                         .key = item.claim->key});
    }
    if (names.empty()) co_return;
    const auto found = co_await storage::find_claims(call, store_.database(), std::move(names));
    for (std::size_t place = 0; place < keyed.size(); ++place) {
        const auto i = keyed[place];
        if (found[place]) {
            batch.verdicts[i] = repeat(*found[place], batch.items[i]);
        } else if (!batch.drawn(i)) {
            batch.verdicts[i] = refuse_alias(batch.items[i]);
        }
    }
}

void Creator::answer_followers(Batch& batch) {
    for (const auto& [item, leader] : batch.same_claim) {
        const auto& verdict = batch.verdicts[leader];
        if (!verdict) continue;
        if (batch.items[item].claim->fingerprint == batch.items[leader].claim->fingerprint) {
            batch.verdicts[item] = follow(*verdict, batch.items[leader]);
        } else if (verdict->has_value()) {
            storage::StoredClaim stored;
            stored.fingerprint = batch.items[leader].claim->fingerprint;
            batch.verdicts[item] = repeat(stored, batch.items[item]);
        }
    }
}

}  // namespace tenon::links
