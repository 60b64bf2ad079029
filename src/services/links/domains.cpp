#include "services/links/domains.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace tenon::links {

DomainSet::DomainSet(std::vector<DomainFacts> domains, std::uint16_t port)
    : domains_(std::move(domains)) {
    for (const auto& domain : domains_) own_.add(domain.host);
    if (port != 0) own_.add_port(port);
    const auto shared = std::ranges::find_if(
        domains_, [](const DomainFacts& domain) { return !domain.project.has_value(); });
    TENON_ASSERT(shared != domains_.end());
    shared_ = static_cast<std::size_t>(shared - domains_.begin());
    for (std::size_t i = 0; i < domains_.size(); ++i) {
        if (domains_[i].project) own_by_host_.emplace(domains_[i].host, i);
    }
}

const DomainFacts& DomainSet::serving(std::string_view host) const {
    if (own_by_host_.empty()) return domains_[shared_];
    const auto found = own_by_host_.find(host);
    return domains_[found == own_by_host_.end() ? shared_ : found->second];
}

const DomainFacts* DomainSet::usable(const std::optional<std::string>& host,
                                     const base::Uuid& project) const {
    if (!host || *host == domains_[shared_].host) return &domains_[shared_];
    const auto found = own_by_host_.find(*host);
    if (found == own_by_host_.end()) return nullptr;
    const auto& domain = domains_[found->second];
    return domain.project == project ? &domain : nullptr;
}

const DomainFacts* DomainSet::by_id(const base::Uuid& id) const {
    const auto found = std::ranges::find(domains_, id, &DomainFacts::id);
    return found == domains_.end() ? nullptr : &*found;
}

}  // namespace tenon::links
