// Results of PostgreSQL, decoded from binary form.
#pragma once

#include <boost/describe/members.hpp>
#include <boost/mp11/algorithm.hpp>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/uuid.hpp"
#include "postgres/wire.hpp"

struct pg_result;

namespace tenon::postgres {

/// The rows of one statement.
///
/// Owns: the result's memory; string_views given out live as long as it, also when it is moved.
class Rows {
public:
    /// No rows.
    Rows() = default;
    /// Takes over a result of libpq.
    explicit Rows(pg_result* result) : result_(result) {}

    [[nodiscard]] std::size_t size() const;
    [[nodiscard]] bool empty() const { return size() == 0; }
    /// The affected rows of INSERT, UPDATE and DELETE.
    [[nodiscard]] std::size_t affected() const;
    /// What the server says it did, such as "INSERT 0 1" or "COMMIT".
    [[nodiscard]] std::string_view command() const;

    /// One value. T: bool, int16/32/64, double, std::string, std::string_view, Uuid, Time, Digest,
    /// Bucket (int4), vector<uint8_t> (bytea), vector of those, optional of those (NULL). Another
    /// type than the column's is a bug and throws std::logic_error, as does NULL without optional.
    template <class T>
    [[nodiscard]] T value(std::size_t row, std::size_t column) const {
        return wire::decode<T>(cell(row, column));
    }
    /// A described struct from the columns of the same names, in any order; other columns are
    /// ignored.
    ///
    /// Errors: std::logic_error when a member has no column, and as value().
    template <class T>
    [[nodiscard]] T as(std::size_t row) const {
        return read_row<T>(row, places_of<T>());
    }
    template <class T>
    [[nodiscard]] std::vector<T> all() const;

private:
    struct Clear {
        void operator()(pg_result* result) const;
    };
    template <class T>
    using MembersOf = boost::describe::describe_members<T, boost::describe::mod_public>;
    using Places = std::vector<std::size_t>;

    [[nodiscard]] wire::Cell cell(std::size_t row, std::size_t column) const;
    [[nodiscard]] std::size_t column_named(std::string_view name) const;
    template <class T>
    [[nodiscard]] const Places& places_of() const;
    template <class T>
    [[nodiscard]] T read_row(std::size_t row, const Places& places) const;

    std::unique_ptr<pg_result, Clear> result_;
    mutable Places places_;               ///< columns of the members of the type last asked for
    mutable const void* type_ = nullptr;  ///< which type that was
};

/// One address per type, to tell types apart without run-time type information.
template <class T>
inline constexpr char type_mark = 0;

template <class T>
const Rows::Places& Rows::places_of() const {
    if (type_ != &type_mark<T>) {
        Places places;
        boost::mp11::mp_for_each<MembersOf<T>>(
            [&](auto member) { places.push_back(column_named(member.name)); });
        places_ = std::move(places);
        type_ = &type_mark<T>;
    }
    return places_;
}

template <class T>
T Rows::read_row(std::size_t row, const Places& places) const {
    T out{};
    std::size_t index = 0;
    boost::mp11::mp_for_each<MembersOf<T>>([&](auto member) {
        auto& field = out.*member.pointer;
        field = value<std::remove_cvref_t<decltype(field)>>(row, places[index++]);
    });
    return out;
}

template <class T>
std::vector<T> Rows::all() const {
    std::vector<T> out;
    out.reserve(size());
    for (std::size_t row = 0; row < size(); ++row) out.push_back(as<T>(row));
    return out;
}

}  // namespace tenon::postgres
