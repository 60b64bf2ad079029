// Results as a server would send them, made by hand for tests.
#pragma once

#include <libpq-fe.h>

#include <optional>
#include <string>
#include <vector>

#include "postgres/rows.hpp"

namespace tenon::postgres {

/// A column and its values; nullopt is NULL.
struct TestColumn {
    std::string name;
    Oid type;
    std::vector<std::optional<std::string>> values;
};

/// Rows of the columns, all equally long.
inline Rows rows_of(std::vector<TestColumn> columns) {
    PGresult* result = PQmakeEmptyPGresult(nullptr, PGRES_TUPLES_OK);
    std::vector<PGresAttDesc> attributes;
    for (TestColumn& column : columns) {
        attributes.push_back({.name = column.name.data(),
                              .tableid = 0,
                              .columnid = 0,
                              .format = 1,
                              .typid = column.type,
                              .typlen = -1,
                              .atttypmod = -1});
    }
    PQsetResultAttrs(result, static_cast<int>(columns.size()), attributes.data());
    for (std::size_t c = 0; c < columns.size(); ++c) {
        for (std::size_t r = 0; r < columns[c].values.size(); ++r) {
            std::optional<std::string>& value = columns[c].values[r];
            PQsetvalue(result, static_cast<int>(r), static_cast<int>(c),
                       value ? value->data() : nullptr,
                       value ? static_cast<int>(value->size()) : -1);
        }
    }
    return Rows(result);
}

}  // namespace tenon::postgres
