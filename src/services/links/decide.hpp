// The rules of links, without I/O: from what was asked and read to what must be written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/codes.hpp"
#include "base/result.hpp"
#include "base/slot.hpp"
#include "services/links/domains.hpp"
#include "services/links/own_origins.hpp"
#include "services/links/types.hpp"

namespace tenon::links {

/// How many k of a slot may be handed out at present: 2^20, a billion codes over all slots. A path
/// of a code's form beyond it is unknown without a look-up.
inline constexpr std::uint64_t codes_per_slot_bound = 1ULL << 20;

/// Refuses an alias that could be mistaken for something else.
///
/// Shape:  1 .. 128 of A-Z a-z 0-9 - _, kept byte for byte.
/// Errors: links.invalid_alias with the reason: a foreign character, too long, the form of a
///         generated code (7 letters and digits with a digit and a capital), a reserved path.
[[nodiscard]] base::Result<void> check_alias(std::string_view alias,
                                             const std::vector<std::string>& reserved);

/// The slot that a path names: that of its code or of its alias; nullopt when no link can have it.
///
/// Cost: one hash or one inverse bijection; no allocation.
[[nodiscard]] std::optional<base::Slot> slot_of_path(const base::Bijection& bijection,
                                                     const base::Uuid& domain,
                                                     std::string_view path);

/// What a creation is judged by; `now` is business time.
struct CreateFacts {
    base::Uuid project;
    base::Time now;
    const OwnOrigins& own;
    const std::vector<std::string>& reserved;
};
/// Checks what a client asks for and makes the row without its code.
///
/// Shape:  pure. The row's code is the alias, or empty for a drawn one.
/// Errors: links.invalid_target, links.target_is_own, links.invalid_alias, links.invalid_expiry,
///         links.invalid_status.
[[nodiscard]] base::Result<Row> decide_create(const CreateLink& asked, const DomainFacts& domain,
                                              const CreateFacts& facts);

/// What an edit is judged by; `now` is business time.
struct EditFacts {
    base::Time now;
    const OwnOrigins& own;
};
/// Applies an edit to a row.
///
/// Errors: as decide_create, without the alias.
[[nodiscard]] base::Result<Row> decide_edit(Row row, const EditLink& asked, const EditFacts& facts);

/// What a visitor gets.
enum class Visit { follow, expired };
/// Shape: pure; a link ends at the very moment of its expiry.
[[nodiscard]] Visit decide_visit(const Target& target, base::Time now);

/// A row as its owner sees it.
[[nodiscard]] Link show(const Row& row, const DomainFacts& domain);
/// A row as the near cache keeps it.
[[nodiscard]] Target target_of(const Row& row);

}  // namespace tenon::links
