// The domains that links live under, as one core sees them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/slot.hpp"
#include "base/uuid.hpp"
#include "services/links/own_origins.hpp"

namespace tenon::links {

/// A domain's name, whose it is and where its links lie.
struct DomainFacts {
    base::Uuid id;
    std::string host;    ///< as it stands in short_url, with the port where it has one
    std::string scheme;  ///< http or https
    base::Space space;
    std::optional<base::Uuid> project;  ///< nullopt: shared by all projects of the space
};

/// All domains at one moment; immutable, replaced whole.
///
/// Expects: one of them is shared; it serves every Host that is nobody's own.
class DomainSet {
public:
    /// `port` is where this server listens on loopback; 0: nowhere that matters.
    explicit DomainSet(std::vector<DomainFacts> domains, std::uint16_t port = 0);

    /// The domain that answers requests to `host` (a Host header, port and all).
    [[nodiscard]] const DomainFacts& serving(std::string_view host) const;
    /// The domain that a project names when it makes or manages links; its space's shared one
    /// when it names none. nullptr: unknown, or another project's.
    [[nodiscard]] const DomainFacts* usable(const std::optional<std::string>& host,
                                            const base::Uuid& project) const;
    [[nodiscard]] const DomainFacts* by_id(const base::Uuid& id) const;
    [[nodiscard]] const std::vector<DomainFacts>& all() const { return domains_; }
    /// What no link may lead to.
    [[nodiscard]] const OwnOrigins& own() const { return own_; }

private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const {
            return std::hash<std::string_view>{}(text);
        }
    };
    std::vector<DomainFacts> domains_;
    OwnOrigins own_;
    std::size_t shared_ = 0;
    std::unordered_map<std::string, std::size_t, Hash, std::equal_to<>> own_by_host_;
};

}  // namespace tenon::links
