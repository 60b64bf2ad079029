// "Did you mean ...?"
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace tenon::runtime {

/// How many insertions, deletions, replacements and swaps of neighbours make one text the other.
///
/// Cost:   O(|a| × |b|) time, three rows of memory.
/// Source: optimal string alignment; L. Boytsov, "Indexing methods for approximate dictionary
///         searching", 2011.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// The known name that a mistyped one most likely stands for; the first of equals.
///
/// Shape: nullopt when none is within a third of the longer one's length (at least 1, at most 4
///        edits), or when `name` is longer than 64 bytes.
[[nodiscard]] std::optional<std::string_view> nearest_name(std::string_view name,
                                                           std::span<const std::string_view> known);

}  // namespace tenon::runtime
