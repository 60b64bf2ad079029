// Structs to JSON and back, by Boost.Describe: the one mapping for bodies, answers and claims.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace tenon::runtime {

/// Writes a described struct as JSON. Members that are an empty optional are left out.
///
/// Shape: bool, integers, double, std::string, base::Time (RFC 3339 UTC), optional, vector,
///        map<string, T>, described enums (by name) and described structs.
template <class T>
[[nodiscard]] std::string to_json(const T& value);

/// Reads JSON strictly into a described struct.
///
/// Shape:  unknown members, duplicate members, wrong types, invalid UTF-8, lone surrogates,
///         U+0000 in a string, integers out of range and nesting beyond 32 are refused; a member
///         that is not optional must be there.
/// Errors: json.invalid (not JSON; says the byte), json.mismatch (one FieldError per refused
///         field, all of them, with its RFC 6901 pointer and what was expected).
template <class T>
[[nodiscard]] base::Result<T> from_json(std::string_view text);

}  // namespace tenon::runtime
