#include "storage/references.hpp"

#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>

namespace tenon::storage {

using boost::asio::awaitable;
using postgres::Parameters;
using postgres::Pool;
using postgres::Query;
using postgres::Statement;

namespace {

constexpr std::int32_t page_rows = 500;
// A row may refer to one that was written after its table was read: then the parents come first
// once more.
constexpr int rounds_max = 5;
constexpr std::string_view foreign_key_violation = "23503";

// Index: reference_copies_pkey, read whole: a handful of rows.
constexpr Statement read_copies{"SELECT name, version FROM tenon.reference_copies"};

// Index: that on the table's version.
constexpr Statement read_rows{
    "SELECT changed::text, upto, total FROM tenon.reference_rows($1::text::regclass, $2::bigint, "
    "$3::integer)"};

constexpr Statement write_rows{
    "SELECT tenon.copy_reference($1::text::regclass, $2::text::jsonb, $3::bigint)"};

using Versions = std::map<std::string, std::int64_t, std::less<>>;

awaitable<Versions> versions_of(runtime::Call& call, Pool& node) {
    const auto rows =
        co_await node.query(call, {.statement = read_copies, .parameters = {}, .writes = false});
    Versions versions;
    for (std::size_t row = 0; row < rows.size(); ++row) {
        versions.emplace(rows.value<std::string>(row, 0), rows.value<std::int64_t>(row, 1));
    }
    co_return versions;
}

awaitable<void> copy_table(runtime::Call& call, std::string_view table, std::int64_t since,
                           Pool& control, Pool& node) {
    for (std::int32_t total = page_rows; total == page_rows;) {
        const auto page =
            co_await control.query(call, {.statement = read_rows,
                                          .parameters = Parameters::of(table, since, page_rows),
                                          .writes = false});
        total = page.value<std::int32_t>(0, 2);
        if (total == 0) co_return;
        since = page.value<std::int64_t>(0, 1);
        co_await node.query(
            call, {.statement = write_rows,
                   .parameters = Parameters::of(table, page.value<std::string>(0, 0), since)});
    }
}

awaitable<void> copy_all(runtime::Call& call, const ReferenceTables& tables, Pool& control,
                         Pool& node) {
    const auto versions = co_await versions_of(call, node);
    for (const auto table : tables) {
        const auto known = versions.find(table);
        const auto since = known == versions.end() ? std::int64_t{0} : known->second;
        co_await copy_table(call, table, since, control, node);
    }
}

}  // namespace

awaitable<void> copy_references(runtime::Call& call, const ReferenceTables& tables, Pool& control,
                                Pool& node) {
    for (int round = 1;; ++round) {
        try {
            co_await copy_all(call, tables, control, node);
            co_return;
        } catch (const postgres::QueryFailed& failure) {
            if (!failure.is(foreign_key_violation) || round == rounds_max) throw;
        }
    }
}

}  // namespace tenon::storage
