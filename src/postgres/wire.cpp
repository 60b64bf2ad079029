#include "postgres/wire.hpp"

#include <fmt/format.h>

#include <limits>
#include <stdexcept>

namespace tenon::postgres::wire {

namespace {

constexpr std::int64_t epoch_microseconds = 946'684'800'000'000;  // 2000-01-01 since 1970-01-01
constexpr auto infinity = std::numeric_limits<std::int64_t>::max();
constexpr auto minus_infinity = std::numeric_limits<std::int64_t>::min();

constexpr Oid oid_name = 19;
constexpr Oid oid_json = 114;
constexpr Oid oid_unknown_text = 705;
constexpr Oid oid_bpchar = 1042;
constexpr Oid oid_varchar = 1043;
constexpr Oid oid_jsonb = 3802;
constexpr char jsonb_version = 1;

[[noreturn]] void refuse_type(const Cell& cell, const char* wanted) {
    throw std::logic_error(
        fmt::format("column \"{}\" is of PostgreSQL type {}, not {}; cast it in the statement",
                    cell.column, cell.type, wanted));
}

[[noreturn]] void refuse_form(std::string_view column, const char* wanted) {
    throw std::logic_error(
        fmt::format("column \"{}\" does not hold the binary form of {}", column, wanted));
}

void expect(const Cell& cell, Oid type, std::size_t bytes, const char* name) {
    if (cell.type != type) refuse_type(cell, name);
    if (cell.bytes.size() != bytes) refuse_form(cell.column, name);
}

void expect_bytea(const Cell& cell) {
    if (cell.type != oid::bytea) refuse_type(cell, "bytea");
}

bool is_text(Oid type) {
    switch (type) {
        case oid::text:
        case oid_varchar:
        case oid_bpchar:
        case oid_name:
        case oid_json:
        case oid_unknown_text:
            return true;
        default:
            return type >= oid::first_of_user;
    }
}

}  // namespace

std::int64_t timestamp_of(base::Time time) {
    if (time == base::Time::max()) return infinity;
    if (time == base::Time::min()) return minus_infinity;
    std::int64_t count = 0;
    if (__builtin_sub_overflow(time.time_since_epoch().count(), epoch_microseconds, &count)) {
        throw std::logic_error("a time is before the first that PostgreSQL can hold");
    }
    return count;
}

void refuse_null(const Cell& cell) {
    throw std::logic_error(fmt::format(
        "column \"{}\" is NULL; read it as std::optional or exclude NULL in the statement",
        cell.column));
}

void read(const Cell& cell, bool& out) {
    expect(cell, oid::boolean, 1, "bool");
    out = cell.bytes[0] != 0;
}

void read(const Cell& cell, std::int16_t& out) {
    expect(cell, oid::int2, sizeof out, "int2");
    out = from_network<std::int16_t>(cell.bytes);
}

void read(const Cell& cell, std::int32_t& out) {
    expect(cell, oid::int4, sizeof out, "int4");
    out = from_network<std::int32_t>(cell.bytes);
}

void read(const Cell& cell, std::int64_t& out) {
    expect(cell, oid::int8, sizeof out, "int8");
    out = from_network<std::int64_t>(cell.bytes);
}

void read(const Cell& cell, double& out) {
    expect(cell, oid::float8, sizeof out, "float8");
    out = std::bit_cast<double>(from_network<std::int64_t>(cell.bytes));
}

void read(const Cell& cell, std::string_view& out) {
    if (cell.type == oid_jsonb) {
        if (cell.bytes.empty() || cell.bytes[0] != jsonb_version) refuse_form(cell.column, "jsonb");
        out = cell.bytes.substr(1);
        return;
    }
    if (!is_text(cell.type)) refuse_type(cell, "text");
    out = cell.bytes;
}

void read(const Cell& cell, std::string& out) {
    std::string_view view;
    read(cell, view);
    out = view;
}

void read(const Cell& cell, std::vector<std::uint8_t>& out) {
    expect_bytea(cell);
    out.assign(cell.bytes.begin(), cell.bytes.end());
}

void read(const Cell& cell, base::Digest& out) {
    expect_bytea(cell);
    if (cell.bytes.size() != out.size()) refuse_form(cell.column, "a digest of 32 bytes");
    std::memcpy(out.data(), cell.bytes.data(), out.size());
}

void read(const Cell& cell, base::Uuid& out) {
    expect(cell, oid::uuid, out.bytes.size(), "uuid");
    std::memcpy(out.bytes.data(), cell.bytes.data(), out.bytes.size());
}

void read(const Cell& cell, base::Time& out) {
    expect(cell, oid::timestamptz, sizeof(std::int64_t), "timestamptz");
    const auto count = from_network<std::int64_t>(cell.bytes);
    if (count == infinity) {
        out = base::Time::max();
        return;
    }
    if (count == minus_infinity) {
        out = base::Time::min();
        return;
    }
    std::int64_t since_1970 = 0;
    if (__builtin_add_overflow(count, epoch_microseconds, &since_1970)) {
        refuse_form(cell.column, "a timestamptz before the year 294247");
    }
    out = base::Time(std::chrono::microseconds(since_1970));
}

void read(const Cell& cell, base::Bucket& out) {
    read(cell, out.value);
}

ArrayReader::ArrayReader(const Cell& cell) : column_(cell.column), rest_(cell.bytes) {
    const auto dimensions = from_network<std::int32_t>(take(4));
    take(4);  // the flag for NULLs says nothing that the elements do not
    element_ = from_network<Oid>(take(4));
    if (dimensions == 0) return;
    if (dimensions != 1) refuse_form(column_, "a one-dimensional array");
    const auto size = from_network<std::int32_t>(take(4));
    take(4);  // the first index
    // Every element takes at least its length, so a size beyond that is not believed.
    if (size < 0 || static_cast<std::size_t>(size) > rest_.size() / 4) {
        refuse_form(column_, "an array");
    }
    left_ = static_cast<std::size_t>(size);
}

Cell ArrayReader::next() {
    const auto length = from_network<std::int32_t>(take(4));
    --left_;
    if (length < 0) return {column_, element_, true, {}};
    return {column_, element_, false, take(static_cast<std::size_t>(length))};
}

std::string_view ArrayReader::take(std::size_t bytes) {
    if (bytes > rest_.size()) refuse_form(column_, "an array");
    const std::string_view taken = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return taken;
}

}  // namespace tenon::postgres::wire
