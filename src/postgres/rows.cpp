#include "postgres/rows.hpp"

#include <fmt/format.h>
#include <libpq-fe.h>

#include <charconv>
#include <stdexcept>

#include "base/assert.hpp"

namespace tenon::postgres {

void Rows::Clear::operator()(pg_result* result) const {
    PQclear(result);
}

std::size_t Rows::size() const {
    return static_cast<std::size_t>(PQntuples(result_.get()));
}

std::size_t Rows::affected() const {
    const std::string_view count = PQcmdTuples(result_.get());
    std::size_t rows = 0;
    std::from_chars(count.data(), count.data() + count.size(), rows);
    return rows;
}

std::string_view Rows::command() const {
    return result_ ? PQcmdStatus(result_.get()) : "";
}

wire::Cell Rows::cell(std::size_t row, std::size_t column) const {
    const pg_result* result = result_.get();
    const int r = static_cast<int>(row);
    const int c = static_cast<int>(column);
    TENON_ASSERT(row < size() && c < PQnfields(result));
    return {PQfname(result, c),
            PQftype(result, c),
            PQgetisnull(result, r, c) != 0,
            {PQgetvalue(result, r, c), static_cast<std::size_t>(PQgetlength(result, r, c))}};
}

std::size_t Rows::column_named(std::string_view name) const {
    const int columns = PQnfields(result_.get());
    for (int column = 0; column < columns; ++column) {
        if (name == PQfname(result_.get(), column)) return static_cast<std::size_t>(column);
    }
    throw std::logic_error(fmt::format("the statement returns no column named \"{}\"", name));
}

}  // namespace tenon::postgres
