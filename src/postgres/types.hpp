// Which PostgreSQL type a C++ type travels as.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/hash.hpp"
#include "base/slot.hpp"
#include "base/uuid.hpp"

namespace tenon::postgres {

/// The number of a type in pg_type; those used here are fixed for ever.
///
/// Source: src/include/catalog/pg_type.dat of PostgreSQL.
using Oid = std::uint32_t;

namespace oid {

inline constexpr Oid unknown = 0;  ///< the server infers it from the statement
inline constexpr Oid boolean = 16;
inline constexpr Oid bytea = 17;
inline constexpr Oid int8 = 20;
inline constexpr Oid int2 = 21;
inline constexpr Oid int4 = 23;
inline constexpr Oid text = 25;
inline constexpr Oid float8 = 701;
inline constexpr Oid timestamptz = 1184;
inline constexpr Oid uuid = 2950;
inline constexpr Oid first_of_user = 16'384;  ///< enums and other types made by a migration

}  // namespace oid

/// The type of a value and of a one-dimensional array of it.
struct TypeOids {
    Oid scalar;
    Oid array;
};

/// Defined for every C++ type that may be a parameter or an element of one.
template <class T>
inline constexpr TypeOids oids_of{};

template <>
inline constexpr TypeOids oids_of<bool>{oid::boolean, 1000};
template <>
inline constexpr TypeOids oids_of<std::int16_t>{oid::int2, 1005};
template <>
inline constexpr TypeOids oids_of<std::int32_t>{oid::int4, 1007};
template <>
inline constexpr TypeOids oids_of<base::Bucket>{oid::int4, 1007};
template <>
inline constexpr TypeOids oids_of<std::int64_t>{oid::int8, 1016};
template <>
inline constexpr TypeOids oids_of<double>{oid::float8, 1022};
template <>
inline constexpr TypeOids oids_of<std::string>{oid::text, 1009};
template <>
inline constexpr TypeOids oids_of<std::string_view>{oid::text, 1009};
template <>
inline constexpr TypeOids oids_of<base::Digest>{oid::bytea, 1001};
template <>
inline constexpr TypeOids oids_of<std::vector<std::uint8_t>>{oid::bytea, 1001};
template <>
inline constexpr TypeOids oids_of<std::span<const std::uint8_t>>{oid::bytea, 1001};
template <>
inline constexpr TypeOids oids_of<base::Uuid>{oid::uuid, 2951};
template <>
inline constexpr TypeOids oids_of<base::Time>{oid::timestamptz, 1185};

/// True for std::optional of anything.
template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

/// True for vectors that travel as arrays: all but the bytes of a bytea.
template <class T>
inline constexpr bool is_array = false;
template <class T>
inline constexpr bool is_array<std::vector<T>> = true;
template <>
inline constexpr bool is_array<std::vector<std::uint8_t>> = false;

/// T without its optional.
template <class T>
struct Required {
    using type = T;
};
template <class T>
struct Required<std::optional<T>> {
    using type = T;
};

}  // namespace tenon::postgres
