#include "storage/catalog.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "storage/errors.hpp"

namespace tenon::storage {

namespace {

// $1: schemas. Every statement reads the system catalogs by their own indexes.
constexpr auto list_objects = R"(
    WITH home AS (
        SELECT oid, nspname FROM pg_namespace WHERE nspname = ANY ($1::text[])
    ), relation AS (
        SELECT c.oid, c.relkind, format('%s.%s', home.nspname, c.relname) AS name
        FROM pg_class AS c JOIN home ON home.oid = c.relnamespace
        WHERE c.relkind IN ('r', 'p')
    )
    SELECT format('column %s.%s', r.name, a.attname),
           format('%s%s%s', format_type(a.atttypid, a.atttypmod),
                  CASE WHEN a.attnotnull THEN ' not null' ELSE '' END,
                  ' default ' || pg_get_expr(d.adbin, d.adrelid))
    FROM relation AS r
    JOIN pg_attribute AS a ON a.attrelid = r.oid AND a.attnum > 0 AND NOT a.attisdropped
    LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
    UNION ALL
    SELECT format('constraint %s.%s', r.name, c.conname), pg_get_constraintdef(c.oid)
    FROM relation AS r JOIN pg_constraint AS c ON c.conrelid = r.oid
    UNION ALL
    SELECT format('index %s', i.indexrelid::regclass), pg_get_indexdef(i.indexrelid)
    FROM relation AS r JOIN pg_index AS i ON i.indrelid = r.oid
    UNION ALL
    SELECT format('function %s', p.oid::regprocedure), md5(pg_get_functiondef(p.oid))
    FROM pg_proc AS p JOIN home ON home.oid = p.pronamespace
    WHERE p.prokind IN ('f', 'p'))";

// $1: schemas. A sharded table is one with a column named bucket.
constexpr auto list_unbucketed = R"(
    SELECT i.indexrelid::regclass::text
    FROM pg_index AS i
    JOIN pg_class AS t ON t.oid = i.indrelid
    JOIN pg_namespace AS n ON n.oid = t.relnamespace
    JOIN pg_attribute AS b ON b.attrelid = t.oid AND b.attname = 'bucket' AND NOT b.attisdropped
    WHERE n.nspname = ANY ($1::text[])
      AND (i.indisunique OR i.indisexclusion)
      AND i.indkey[0] <> b.attnum
    ORDER BY 1)";

// $1: schemas.
constexpr auto list_invalid = R"(
    SELECT i.indexrelid::regclass::text
    FROM pg_index AS i
    JOIN pg_class AS t ON t.oid = i.indrelid
    JOIN pg_namespace AS n ON n.oid = t.relnamespace
    WHERE n.nspname = ANY ($1::text[]) AND NOT i.indisvalid
    ORDER BY 1)";

// $1: a table's name.
constexpr auto count_estimate = R"(
    SELECT coalesce(sum(greatest(c.reltuples, 0)), 0)::bigint
    FROM pg_class AS c
    WHERE c.oid = to_regclass($1) AND c.relkind = 'r'
       OR c.oid IN (SELECT relid FROM pg_partition_tree(to_regclass($1)) WHERE isleaf))";

std::string array_of(const std::set<std::string>& schemas) {
    return fmt::format("{{{}}}", fmt::join(schemas, ","));
}

std::vector<std::string> first_column(const std::vector<TextRow>& rows) {
    std::vector<std::string> texts;
    texts.reserve(rows.size());
    for (const TextRow& row : rows) {
        texts.push_back(row[0].value_or(""));
    }
    return texts;
}

void note_differences(const Catalog& first, const Catalog& other,
                      std::vector<std::string>& findings) {
    for (const auto& [name, definition] : first.objects) {
        const auto found = other.objects.find(name);
        if (found == other.objects.end()) {
            findings.push_back(fmt::format("{} is missing on {}", name, other.node));
        } else if (found->second != definition) {
            findings.push_back(
                fmt::format("{} differs between {} and {}", name, first.node, other.node));
        }
    }
    for (const auto& [name, definition] : other.objects) {
        if (!first.objects.contains(name)) {
            findings.push_back(fmt::format("{} is missing on {}", name, first.node));
        }
    }
}

}  // namespace

std::set<std::string> schemas_of(std::span<const Migration> files) {
    std::set<std::string> schemas{"tenon"};
    for (const Migration& file : files) {
        if (file.room != "storage") {
            schemas.emplace(file.room);
        }
    }
    return schemas;
}

Catalog read_catalog(Session& session, std::span<const Migration> files) {
    const std::string schemas = array_of(schemas_of(files));
    Catalog catalog;
    catalog.node = session.node();
    for (TextRow& row : session.run(list_objects, {schemas})) {
        catalog.objects.emplace(row[0].value_or(""), row[1].value_or(""));
    }
    catalog.unbucketed = first_column(session.run(list_unbucketed, {schemas}));
    catalog.invalid = first_column(session.run(list_invalid, {schemas}));
    return catalog;
}

base::Result<> compare_catalogs(const std::vector<Catalog>& catalogs) {
    std::vector<std::string> findings;
    for (const Catalog& catalog : catalogs) {
        for (const std::string& index : catalog.unbucketed) {
            findings.push_back(fmt::format("unique index {} on {} does not begin with the bucket",
                                           index, catalog.node));
        }
        for (const std::string& index : catalog.invalid) {
            findings.push_back(fmt::format("index {} on {} is invalid", index, catalog.node));
        }
        if (&catalog != &catalogs.front()) {
            note_differences(catalogs.front(), catalog, findings);
        }
    }
    if (findings.empty()) {
        return {};
    }
    constexpr std::size_t shown_max = 10;
    const std::size_t more = findings.size() > shown_max ? findings.size() - shown_max : 0;
    findings.resize(std::min(findings.size(), shown_max));
    return base::fail(errors::catalogs_differ,
                      fmt::format("{}{}. Was something changed by hand?", fmt::join(findings, "; "),
                                  more == 0 ? "" : fmt::format("; and {} more", more)));
}

std::int64_t estimate_rows(Session& session, const std::string& table) {
    if (table.empty()) {
        return 0;
    }
    return std::stoll(session.value(count_estimate, {table}));
}

}  // namespace tenon::storage
