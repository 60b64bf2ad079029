// Structs to JSON and back, by Boost.Describe: the one mapping for bodies, answers and claims.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "runtime/json_read.hpp"
#include "runtime/json_types.hpp"
#include "runtime/json_write.hpp"

namespace tenon::runtime {

/// Writes a described struct as JSON. Members that are an empty optional are left out.
///
/// Shape: bool, integers, double, std::string, base::Time (RFC 3339 UTC), optional, Patch, vector,
///        map<string, T>, described enums (by name) and described structs with their bases. A
///        described name that ends in '_' is written without it. A string's byte that is not UTF-8
///        becomes U+FFFD.
/// Expects: finite doubles, described enumerators, times that format_time writes.
/// Cost:    appends to one string, O(length); no tree.
template <class T>
[[nodiscard]] std::string to_json(const T& value) {
    std::string out;
    // Most answers fit; growing from nothing would move each of them five times.
    out.reserve(256);
    append_json(out, value);
    return out;
}

/// No bounds beyond what the types say; the default of from_json.
template <class T>
struct NoBounds {
    static constexpr MemberBounds of(std::string_view) { return {}; }
};

/// Reads JSON strictly into a described struct.
///
/// Shape:  unknown members, duplicate members, wrong types, invalid UTF-8, lone surrogates,
///         U+0000 in a string, integers out of range and nesting beyond 32 are refused; a member
///         that is neither optional nor Patch must be there. null is an empty optional or a null
///         Patch. An integer has no fraction and no exponent.
///         `Bounds<S>::of(member)` gives the MemberBounds of each member of each struct S inside;
///         http passes those of its FieldSpecs.
/// Errors: json.invalid (not JSON; says the byte), json.mismatch (one FieldError per refused
///         field, all of them up to 100, with its RFC 6901 pointer and what was expected).
/// Cost:   O(length); a tree of two allocations, and what the struct holds.
template <class T, template <class> class Bounds = NoBounds>
[[nodiscard]] base::Result<T> from_json(std::string_view text) {
    const base::Result<JsonTree> tree = JsonTree::parse(text);
    if (!tree) return base::fail(tree.error());
    JsonReader reader(*tree);
    T value{};
    read_value<T, Bounds>(reader, 0, value, {});
    if (reader.has_refused()) return base::fail(reader.error());
    return value;
}

/// The one text of all JSON texts that mean the same, for fingerprints.
///
/// Shape:  members sorted by the bytes of their names, no white space, strings with the fewest
///         escapes, numbers in their shortest form (1.0, 1e0 and 1 are the same). Idempotent.
/// Errors: as from_json.
[[nodiscard]] base::Result<std::string> canonical_json(std::string_view text);

}  // namespace tenon::runtime
