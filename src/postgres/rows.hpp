// Results of PostgreSQL, decoded from binary form.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/uuid.hpp"

namespace tenon::postgres {

/// The rows of one statement.
///
/// Owns: the result's memory; string_views given out live as long as it.
class Rows {
public:
    [[nodiscard]] std::size_t size() const;
    [[nodiscard]] bool empty() const { return size() == 0; }
    /// The affected rows of INSERT, UPDATE and DELETE.
    [[nodiscard]] std::size_t affected() const;

    /// One value. T: bool, int16/32/64, double, std::string, std::string_view, Uuid, Time, Digest,
    /// vector of those, optional of those (NULL). Another type than the column's is a bug and
    /// throws std::logic_error, as does NULL without optional.
    template <class T>
    [[nodiscard]] T value(std::size_t row, std::size_t column) const;
    /// A described struct from the columns of the same names.
    template <class T>
    [[nodiscard]] T as(std::size_t row) const;
    template <class T>
    [[nodiscard]] std::vector<T> all() const;
};

}  // namespace tenon::postgres
