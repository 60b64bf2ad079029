#include "services/links/links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/assert.hpp"
#include "runtime/failure.hpp"
#include "runtime/json.hpp"
#include "runtime/task_group.hpp"
#include "services/links/errors.hpp"

namespace tenon::links {

using boost::asio::awaitable;

namespace {

constexpr std::int32_t page_default = 50;

/// What an entry costs beyond its key: the Target, its control block and its URL.
std::size_t bytes_of(const Target& target) {
    return sizeof(Target) + 16 + target.url.capacity();
}

std::string list_binding(const base::Uuid& project, const std::optional<base::Uuid>& domain) {
    return fmt::format("links.list {} {}", base::format_uuid(project),
                       domain ? base::format_uuid(*domain) : "all");
}

std::vector<std::string> position_values(const Row& row) {
    return {std::to_string(row.created_at.time_since_epoch().count()), row.code,
            base::format_uuid(row.domain)};
}

std::optional<ListPosition> read_position(const std::vector<std::string>& values) {
    if (values.size() != 3) return std::nullopt;
    const auto domain = base::parse_uuid(values[2]);
    if (!domain) return std::nullopt;
    const std::chrono::microseconds created_at(std::stoll(values[0]));
    return ListPosition{.created_at = base::Time(created_at), .code = values[1], .domain = *domain};
}

std::unexpected<base::Error> refuse_domain(const std::optional<std::string>& host) {
    auto detail =
        fmt::format("this project has no domain '{}'; leave `domain` out for the shared one",
                    host.value_or(""));
    return base::fail(base::Error(errors::unknown_domain, std::move(detail))
                          .add_field("/domain", "a domain of this project"));
}

std::unexpected<base::Error> refuse_code(std::string_view code) {
    return base::fail(errors::not_found,
                      fmt::format("this project has no link '{}' on that domain", code));
}

Refusal describe(const base::Error& error) {
    return {.type = std::string(error.type().slug),
            .title = std::string(error.type().title),
            .detail = error.detail()};
}

}  // namespace

NearKey::NearKey(const base::Uuid& domain, std::string_view path) {
    if (path.empty() || path.size() > alias_bytes_max) return;
    std::ranges::copy(domain.bytes, bytes_.begin());
    std::ranges::copy(path, bytes_.begin() + 16);
    size_ = 16 + path.size();
}

Links::Links(runtime::Core& core, storage::Database& database, Shared& shared,
             std::shared_ptr<const DomainSet> domains)
    : core_(core),
      shared_(shared),
      domains_(std::move(domains)),
      store_(database),
      codes_(shared.bijection),
      creator_(store_, codes_) {
    for (std::size_t node = 0; node < database.nodes_total(); ++node) {
        creates_.push_back(std::make_unique<Creates>(
            core,
            Creates::Options{.batch_max = shared.options.batch_max, .name = "links.create batch"},
            [this](runtime::Call& call, std::span<const CreateItem> items) {
                return creator_.run(call, items);
            }));
        look_ups_.push_back(std::make_unique<LookUps>(
            core,
            LookUps::Options{.batch_max = shared.options.batch_max, .name = "links.find batch"},
            [this](runtime::Call& call, std::span<const Key> keys) {
                return look_up(call, keys);
            }));
    }
}

Links::Creates& Links::creates_of(base::Bucket bucket) {
    return *creates_[store_.database().node_of(bucket).index];
}

Links::LookUps& Links::look_ups_of(base::Bucket bucket) {
    return *look_ups_[store_.database().node_of(bucket).index];
}

base::Bucket Links::place(const runtime::Call& call, const DomainFacts& domain, const Row& row) {
    if (!row.code.empty()) {
        return base::bucket_of(domain.space, base::slot_of(domain.id, row.code));
    }
    if (call.claim) {
        return base::bucket_of(domain.space, base::slot_of(call.project, call.claim->key));
    }
    return codes_.pick(domain.space, core_.random());
}

base::Result<CreateItem> Links::plan(const runtime::Call& call, const CreateLink& asked) {
    const auto* domain = domains_->usable(asked.domain, call.project);
    if (domain == nullptr) return refuse_domain(asked.domain);
    auto row = decide_create(asked, *domain,
                             {.project = call.project,
                              .now = call.now,
                              .own = domains_->own(),
                              .reserved = shared_.reserved});
    if (!row) return base::fail(std::move(row.error()));
    const auto bucket = place(call, *domain, *row);
    return CreateItem{.bucket = bucket,
                      .row = std::move(*row),
                      .claim = call.claim,
                      .caller = call.subject,
                      .domains = domains_,
                      .domain = domain};
}

awaitable<base::Result<Link>> Links::create(runtime::Call& call, CreateLink asked) {
    auto item = plan(call, asked);
    if (!item) co_return base::fail(std::move(item.error()));
    const auto domains = item->domains;
    const auto& domain = *item->domain;
    auto& creates = creates_of(item->bucket);
    auto made = co_await creates.add(call, std::move(*item));
    if (made && call.claim) call.claim->replayed = made->is_replayed();
    co_return answer(std::move(made), domain);
}

base::Result<Link> Links::answer(base::Result<Made> made, const DomainFacts& domain) {
    if (!made) return base::fail(std::move(made.error()));
    if (made->is_replayed()) return *made->stored;
    // Whoever asked for the path before must not go on hearing that there is none. The link itself
    // comes near when somebody follows it: most new links wait a while for that.
    shared_.targets.invalidate(NearKey(made->row.domain, made->row.code).text());
    return show(made->row, domain);
}

namespace {

/// The claim of one item: the array's key and the item's index, parted by a character that no key
/// of a client holds. The fingerprint stays that of the whole array.
std::optional<runtime::Claim> item_claim(const std::optional<runtime::Claim>& claim,
                                         std::size_t index) {
    if (!claim) return std::nullopt;
    return runtime::Claim{.key = fmt::format("{}\x1f{}", claim->key, index),
                          .fingerprint = claim->fingerprint};
}

}  // namespace

// One transaction for the part: after a crash all of it is there, or none of it. Only when the
// database refuses it because of some of its items is it made item by item, in batches that are
// halved until those stand alone.
awaitable<void> Links::create_part(runtime::Call& call, const NodePart& part,
                                   std::vector<ItemOutcome>& outcomes) {
    std::exception_ptr failure;
    bool is_refused = false;
    try {
        auto made = co_await creator_.run(call, part.items);
        for (std::size_t i = 0; i < made.size(); ++i) {
            outcomes[part.places[i]].link = answer(std::move(made[i]), *part.items[i].domain);
        }
    } catch (const runtime::Failure& refused) {
        const auto advice = refused.advice();
        is_refused = advice == runtime::Advice::split || advice == runtime::Advice::repeat;
        failure = std::current_exception();
    } catch (...) {
        failure = std::current_exception();  // a cancelled wait, too, is the whole array's
    }
    if (is_refused) {
        runtime::TaskGroup items(core_.io());
        for (std::size_t i = 0; i < part.items.size(); ++i) {
            items.spawn("links.create_alone",
                        create_alone(call, part.items[i], outcomes[part.places[i]]));
        }
        co_await items.join_fully();
    } else if (failure) {
        for (const auto place : part.places) outcomes[place].failure = failure;
    }
}

awaitable<void> Links::create_alone(runtime::Call& call, CreateItem item, ItemOutcome& outcome) {
    try {
        const auto domains = item.domains;
        const auto& domain = *item.domain;
        auto& creates = creates_of(item.bucket);
        outcome.link = answer(co_await creates.add(call, std::move(item)), domain);
    } catch (...) {
        outcome.failure = std::current_exception();
    }
}

awaitable<std::vector<Links::ItemOutcome>> Links::create_items(runtime::Call& call,
                                                               CreateLinks asked) {
    std::vector<ItemOutcome> outcomes(asked.links.size());
    std::map<storage::Node, NodePart> parts;
    runtime::Call item_call = call;
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
        item_call.claim = item_claim(call.claim, i);
        auto item = plan(item_call, asked.links[i]);
        if (!item) {
            outcomes[i].link = base::fail(std::move(item.error()));
            continue;
        }
        auto& part = parts[store_.database().node_of(item->bucket)];
        part.items.push_back(std::move(*item));
        part.places.push_back(i);
    }
    runtime::TaskGroup nodes(core_.io());
    for (const auto& [node, part] : parts) {
        nodes.spawn("links.create_part", create_part(call, part, outcomes));
    }
    co_await nodes.join_fully();
    for (const auto& outcome : outcomes) {
        if (outcome.failure) std::rethrow_exception(outcome.failure);
        TENON_ASSERT(outcome.link.has_value());
    }
    co_return outcomes;
}

awaitable<base::Result<Verdicts>> Links::create_all(runtime::Call& call, CreateLinks asked) {
    std::optional<storage::ClaimKey> array;
    if (call.claim) {
        const auto space = domains_->usable(std::nullopt, call.project)->space;
        const auto slot = base::slot_of(call.project, call.claim->key);
        array = storage::ClaimKey{.bucket = base::bucket_of(space, slot),
                                  .project = call.project,
                                  .caller = call.subject,
                                  .key = call.claim->key};
        const auto fingerprint = call.claim->fingerprint;
        if (const auto stored = co_await store_.begin_array(call, *array, fingerprint)) {
            auto same = storage::decide_repeat(*stored, fingerprint);
            if (!same) co_return base::fail(std::move(same.error()));
            call.claim->replayed = !same->answer.empty();
            if (call.claim->replayed) co_return runtime::from_json<Verdicts>(same->answer);
        }
    }
    Verdicts verdicts;
    for (auto& outcome : co_await create_items(call, std::move(asked))) {
        Verdict verdict;
        if (*outcome.link) verdict.link = std::move(**outcome.link);
        if (!*outcome.link) verdict.error = describe(outcome.link->error());
        verdicts.results.push_back(std::move(verdict));
    }
    if (array) co_await store_.finish_array(call, *array, runtime::to_json(verdicts));
    co_return verdicts;
}

awaitable<base::Result<LinkPage>> Links::list(runtime::Call& call, ListLinks which) {
    std::optional<base::Uuid> domain;
    if (which.domain) {
        const auto* usable = domains_->usable(which.domain, call.project);
        if (usable == nullptr) co_return refuse_domain(which.domain);
        domain = usable->id;
    }
    const auto binding = list_binding(call.project, domain);
    std::optional<ListPosition> after;
    if (which.cursor) {
        auto values = shared_.cursors.open(binding, *which.cursor);
        if (!values) co_return base::fail(std::move(values.error()));
        after = read_position(*values);
    }
    const auto limit = which.limit.value_or(page_default);
    const ListQuery query{
        .project = call.project, .domain = domain, .after = after, .limit = limit};
    const auto found = co_await store_.list(call, query);
    LinkPage page;
    if (found.has_more) {
        page.next_cursor = shared_.cursors.seal(binding, position_values(found.rows.back()));
    }
    for (const auto& row : found.rows) {
        const auto* facts = domains_->by_id(row.domain);
        page.links.push_back(show(row, facts != nullptr ? *facts : DomainFacts{}));
    }
    co_return page;
}

base::Result<Key> Links::key_of(const runtime::Call& call, const ByCode& which,
                                const DomainFacts** domain) const {
    *domain = domains_->usable(which.domain, call.project);
    if (*domain == nullptr) return refuse_domain(which.domain);
    const auto slot = slot_of_path(shared_.bijection, (*domain)->id, which.code);
    if (!slot) return refuse_code(which.code);
    return Key{.bucket = base::bucket_of((*domain)->space, *slot),
               .domain = (*domain)->id,
               .code = which.code};
}

awaitable<base::Result<Link>> Links::get(runtime::Call& call, ByCode which) {
    const DomainFacts* domain = nullptr;
    const auto key = key_of(call, which, &domain);
    if (!key) co_return base::fail(key.error());
    const DomainFacts facts = *domain;
    const auto row = co_await store_.find(call, *key, call.project);
    if (!row) co_return refuse_code(which.code);
    co_return show(*row, facts);
}

awaitable<base::Result<Link>> Links::edit(runtime::Call& call, ByCode which, EditLink asked) {
    const DomainFacts* domain = nullptr;
    const auto key = key_of(call, which, &domain);
    if (!key) co_return base::fail(key.error());
    const DomainFacts facts = *domain;
    const NearKey near_key(key->domain, key->code);

    const std::array buckets{key->bucket};
    auto transaction = co_await store_.database().begin(call, buckets);
    const auto row = co_await store_.lock(call, transaction, *key, call.project);
    if (!row) {
        co_await transaction.rollback(call);
        co_return refuse_code(which.code);
    }
    auto edited = decide_edit(*row, asked, {.now = call.now, .own = domains_->own()});
    if (!edited) {
        co_await transaction.rollback(call);
        co_return base::fail(std::move(edited.error()));
    }
    const auto ticket =
        shared_.targets.begin_write(near_key.text(), std::chrono::steady_clock::now());
    try {
        co_await store_.update(call, transaction, key->bucket, *edited);
        co_await transaction.commit(call);
    } catch (...) {
        shared_.targets.invalidate(near_key.text());  // it may have been committed all the same
        throw;
    }
    auto target = std::make_shared<const Target>(target_of(*edited));
    const auto bytes = bytes_of(*target);
    shared_.targets.put_own_write(ticket, std::move(target), bytes);
    co_return show(*edited, facts);
}

awaitable<base::Result<void>> Links::remove(runtime::Call& call, ByCode which) {
    const DomainFacts* domain = nullptr;
    const auto key = key_of(call, which, &domain);
    if (!key) co_return base::fail(key.error());
    const NearKey near_key(key->domain, key->code);
    const auto ticket =
        shared_.targets.begin_write(near_key.text(), std::chrono::steady_clock::now());
    bool removed = false;
    try {
        removed = co_await store_.remove(call, *key, call.project);
    } catch (...) {
        shared_.targets.invalidate(near_key.text());
        throw;
    }
    if (!removed) co_return refuse_code(which.code);
    shared_.targets.put_own_absence(ticket);
    co_return base::Result<void>{};
}

awaitable<std::shared_ptr<const Target>> Links::resolve(runtime::Call& call, std::string_view host,
                                                        std::string_view path) {
    const auto& domain = domains_->serving(host);
    const auto slot = slot_of_path(shared_.bijection, domain.id, path);
    if (!slot) co_return nullptr;
    Key key{.bucket = base::bucket_of(domain.space, *slot),
            .domain = domain.id,
            .code = std::string(path)};
    const NearKey near_key(domain.id, path);
    const auto ticket =
        shared_.targets.begin_load(near_key.text(), std::chrono::steady_clock::now());
    auto& look_ups = look_ups_of(key.bucket);
    const auto row = co_await look_ups.add(call, std::move(key));
    if (!row) {
        shared_.targets.put_absence(ticket);
        co_return nullptr;
    }
    auto target = std::make_shared<const Target>(target_of(*row));
    shared_.targets.put(ticket, target, bytes_of(*target));
    co_return target;
}

awaitable<std::vector<std::optional<Row>>> Links::look_up(runtime::Call& call,
                                                          std::span<const Key> keys) {
    std::map<Key, std::size_t> places;
    for (const auto& key : keys) places.emplace(key, 0);
    std::vector<Key> distinct;
    for (auto& [key, place] : places) {
        place = distinct.size();
        distinct.push_back(key);
    }
    const auto found = co_await store_.look_up(call, distinct);
    std::vector<std::optional<Row>> rows;
    rows.reserve(keys.size());
    for (const auto& key : keys) rows.push_back(found[places.at(key)]);
    co_return rows;
}

awaitable<void> Links::close() {
    for (auto& creates : creates_) co_await creates->close();
    for (auto& look_ups : look_ups_) co_await look_ups->close();
}

}  // namespace tenon::links
