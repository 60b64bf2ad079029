// The binary forms of PostgreSQL's values, both ways; pure.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/clock.hpp"
#include "base/hash.hpp"
#include "base/slot.hpp"
#include "base/uuid.hpp"
#include "postgres/types.hpp"

namespace tenon::postgres::wire {

/// An integer as its bytes, most significant first.
template <class Integer>
[[nodiscard]] std::array<char, sizeof(Integer)> to_network(Integer value) {
    static_assert(std::endian::native == std::endian::little);
    return std::bit_cast<std::array<char, sizeof(Integer)>>(std::byteswap(value));
}

/// Expects: at least sizeof(Integer) bytes.
template <class Integer>
[[nodiscard]] Integer from_network(std::string_view bytes) {
    Integer value;
    std::memcpy(&value, bytes.data(), sizeof value);
    return std::byteswap(value);
}

/// Microseconds since 2000-01-01, the count of a timestamptz; Time::max() and min() become
/// infinity and -infinity.
///
/// Errors: std::logic_error for a time before PostgreSQL's first (4714 BC).
[[nodiscard]] std::int64_t timestamp_of(base::Time time);

/// One value as it came from the server.
///
/// Owns: nothing; bytes and the column's name belong to the result.
struct Cell {
    std::string_view column;
    Oid type = oid::unknown;
    bool null = false;
    std::string_view bytes;
};

/// Reads one value that is not NULL; so do the other overloads.
///
/// Errors: std::logic_error that names the column, for another type than the C++ one and for
///         bytes that are not of the type's binary form.
void read(const Cell& cell, bool& out);
/// The same.
void read(const Cell& cell, std::int16_t& out);
/// The same.
void read(const Cell& cell, std::int32_t& out);
/// The same.
void read(const Cell& cell, std::int64_t& out);
/// The same.
void read(const Cell& cell, double& out);
/// Text in all its types (json, names and enums too); of a jsonb the text without its version.
void read(const Cell& cell, std::string_view& out);
void read(const Cell& cell, std::string& out);
void read(const Cell& cell, std::vector<std::uint8_t>& out);
void read(const Cell& cell, base::Digest& out);
void read(const Cell& cell, base::Uuid& out);
void read(const Cell& cell, base::Time& out);
void read(const Cell& cell, base::Bucket& out);

/// Walks the elements of a one-dimensional array.
///
/// Errors: std::logic_error for anything else, also in the middle of it.
class ArrayReader {
public:
    explicit ArrayReader(const Cell& cell);
    [[nodiscard]] std::size_t left() const { return left_; }
    /// Expects: left() > 0.
    [[nodiscard]] Cell next();

private:
    std::string_view take(std::size_t bytes);

    std::string_view column_;
    std::string_view rest_;
    Oid element_ = oid::unknown;
    std::size_t left_ = 0;
};

/// Throws std::logic_error that names the column.
[[noreturn]] void refuse_null(const Cell& cell);

/// One value of any type named at Rows::value.
template <class T>
[[nodiscard]] T decode(const Cell& cell) {
    if constexpr (is_optional<T>) {
        if (cell.null) return std::nullopt;
        return decode<typename Required<T>::type>(cell);
    } else if constexpr (is_array<T>) {
        if (cell.null) refuse_null(cell);
        T values;
        ArrayReader reader(cell);
        values.reserve(reader.left());
        while (reader.left() > 0) {
            values.push_back(decode<typename T::value_type>(reader.next()));
        }
        return values;
    } else {
        if (cell.null) refuse_null(cell);
        T value{};
        read(cell, value);
        return value;
    }
}

}  // namespace tenon::postgres::wire
