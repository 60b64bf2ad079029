// Short links: made once per key, found by their code, followed fast.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/codes.hpp"
#include "base/cursor.hpp"
#include "base/result.hpp"
#include "cache/near_cache.hpp"
#include "runtime/batcher.hpp"
#include "services/links/codebook.hpp"
#include "services/links/creator.hpp"
#include "services/links/decide.hpp"
#include "services/links/domains.hpp"
#include "services/links/store.hpp"
#include "services/links/types.hpp"

namespace tenon::links {

/// How links behave.
struct Options {
    /// Memory for targets kept near, all cores together. Default 64 MiB, at least 1 MiB.
    std::size_t cache_bytes = 64 << 20;
    /// How long another process may go on serving an edited or deleted link. Default 5 s, 1 to 30
    /// s.
    std::chrono::milliseconds cache_ttl{5'000};
    /// How long a code found unknown is taken as unknown. Default 1 s, at most 10 s.
    std::chrono::milliseconds unknown_ttl{1'000};
    /// Most links written by one transaction. Default 512, 1 to 4,096.
    std::size_t batch_max = 512;
};

/// What all cores of a process share.
struct Shared {
    Shared(Options chosen, const base::BijectionKey& bijection_key, const base::SealKey& seal_key)
        : options(chosen),
          bijection(bijection_key),
          cursors(seal_key),
          targets({.bytes_max = chosen.cache_bytes,
                   .ttl = chosen.cache_ttl,
                   .negative_ttl = chosen.unknown_ttl,
                   .seed = std::nullopt}) {}

    Options options;
    base::Bijection bijection;
    base::CursorSealer cursors;
    cache::NearCache<Target> targets;
    std::vector<std::string> reserved;  ///< first path segments no alias may take; filled first
};

/// The service on one core.
///
/// Threads: its core only; `shared` is for all. close() before destruction.
/// Errors:  besides those listed, storage::Database's exceptions.
class Links {
public:
    Links(runtime::Core& core, storage::Database& database, Shared& shared,
          std::shared_ptr<const DomainSet> domains);

    /// Makes a link, or gives the one made before under the call's claim (claim->replayed is set).
    ///
    /// Cost:   one round trip shared with all creates of the moment; see Creator.
    /// Cancel: past the deadline the link may still be made; repeat with the same key.
    /// Errors: those of decide_create, links.unknown_domain, links.alias_taken,
    ///         storage.claim_mismatch, storage.claim_running.
    boost::asio::awaitable<base::Result<Link>> create(runtime::Call& call, CreateLink asked);
    /// Makes several, each for itself: one verdict per item. With a claim each item carries the key
    /// and its index, so a repeat finishes what a crash left.
    ///
    /// Cost:   one transaction on each node that gets some of them, all nodes at once; item by item
    ///         where a node refuses its part because of one of them.
    /// Errors: storage.claim_mismatch. A node that is away fails the whole request; what the others
    ///         made is given back at the repeat.
    boost::asio::awaitable<base::Result<Verdicts>> create_all(runtime::Call& call,
                                                              CreateLinks asked);
    /// Errors: links.not_found, links.unknown_domain.
    boost::asio::awaitable<base::Result<Link>> get(runtime::Call& call, ByCode which);
    /// A page, newest first. Errors: base.invalid_cursor, links.unknown_domain.
    boost::asio::awaitable<base::Result<LinkPage>> list(runtime::Call& call, ListLinks which);
    /// Seen at once on this process, on others within Options::cache_ttl.
    /// Errors: links.not_found, links.unknown_domain, those of decide_edit.
    boost::asio::awaitable<base::Result<Link>> edit(runtime::Call& call, ByCode which,
                                                    EditLink asked);
    /// Frees an alias; a code is never used again. Errors: links.not_found, links.unknown_domain.
    boost::asio::awaitable<base::Result<void>> remove(runtime::Call& call, ByCode which);

    /// The near copy of a path's target, for a redirect that waits for nothing: calls `use` with
    /// the target, or with null for a path known to lead nowhere; false when the database must be
    /// asked.
    template <class Use>
    bool with_near(std::string_view host, std::string_view path,
                   std::chrono::steady_clock::time_point now, Use&& use) const;
    /// The target of a path; null when there is none. Misses of one moment share a round trip.
    boost::asio::awaitable<std::shared_ptr<const Target>> resolve(runtime::Call& call,
                                                                  std::string_view host,
                                                                  std::string_view path);

    /// Takes the domains as they are now.
    void set_domains(std::shared_ptr<const DomainSet> domains) { domains_ = std::move(domains); }
    /// Refuses new work and returns when the batches in flight have ended.
    boost::asio::awaitable<void> close();

private:
    using Creates = runtime::Batcher<CreateItem, base::Result<Made>>;
    using LookUps = runtime::Batcher<Key, std::optional<Row>>;

    /// What became of one item of a bulk request.
    struct ItemOutcome {
        std::optional<base::Result<Link>> link;
        std::exception_ptr failure;
    };
    /// The items of a bulk request that lie on one node, and their places in it.
    struct NodePart {
        std::vector<CreateItem> items;
        std::vector<std::size_t> places;
    };

    boost::asio::awaitable<std::vector<ItemOutcome>> create_items(runtime::Call& call,
                                                                  CreateLinks asked);
    boost::asio::awaitable<void> create_part(runtime::Call& call, const NodePart& part,
                                             std::vector<ItemOutcome>& outcomes);
    boost::asio::awaitable<void> create_alone(runtime::Call& call, CreateItem item,
                                              ItemOutcome& outcome);
    base::Result<Link> answer(base::Result<Made> made, const DomainFacts& domain);
    base::Result<CreateItem> plan(const runtime::Call& call, const CreateLink& asked);
    base::Bucket place(const runtime::Call& call, const DomainFacts& domain, const Row& row);
    base::Result<Key> key_of(const runtime::Call& call, const ByCode& which,
                             const DomainFacts** domain) const;
    boost::asio::awaitable<std::vector<std::optional<Row>>> look_up(runtime::Call& call,
                                                                    std::span<const Key> keys);
    [[nodiscard]] Creates& creates_of(base::Bucket bucket);
    [[nodiscard]] LookUps& look_ups_of(base::Bucket bucket);

    runtime::Core& core_;
    Shared& shared_;
    std::shared_ptr<const DomainSet> domains_;
    Store store_;
    CodeBook codes_;
    Creator creator_;
    std::vector<std::unique_ptr<Creates>> creates_;   // by node
    std::vector<std::unique_ptr<LookUps>> look_ups_;  // by node
};

/// The near cache's key of a link: the domain's 16 bytes and the path, built without allocation.
class NearKey {
public:
    NearKey(const base::Uuid& domain, std::string_view path);
    /// Empty when the path is longer than any code or alias.
    [[nodiscard]] std::string_view text() const { return {bytes_.data(), size_}; }

private:
    std::array<char, 16 + alias_bytes_max> bytes_{};
    std::size_t size_ = 0;
};

template <class Use>
bool Links::with_near(std::string_view host, std::string_view path,
                      std::chrono::steady_clock::time_point now, Use&& use) const {
    const NearKey key(domains_->serving(host).id, path);
    if (key.text().empty()) return false;
    return shared_.targets.with(key.text(), now, std::forward<Use>(use));
}

}  // namespace tenon::links
