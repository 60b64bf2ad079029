#include "postgres/parameters.hpp"

#include <bit>
#include <cstring>
#include <stdexcept>

#include "base/assert.hpp"
#include "postgres/wire.hpp"

namespace tenon::postgres {

namespace {

constexpr std::size_t value_bytes_max = 1'000'000'000;  // a field of PostgreSQL ends at 1 GB

template <class Integer>
void append(std::string& buffer, Integer value) {
    const auto bytes = wire::to_network(value);
    buffer.append(bytes.data(), bytes.size());
}

std::int32_t checked_length(std::size_t bytes) {
    if (bytes > value_bytes_max) throw std::logic_error("a parameter is longer than 1 GB");
    return static_cast<std::int32_t>(bytes);
}

}  // namespace

void Parameters::add(std::string_view value) {
    begin(oid::unknown);
    put(value);
    end();
    // The text form alone fits whatever type the server infers. It ends at the first zero, so a
    // text that holds one goes in binary form, which the server refuses instead of cutting it.
    if (value.contains('\0')) return;
    entries_.back().form = 0;
    buffer_.push_back('\0');
}

std::string_view Parameters::bytes(std::size_t index) const {
    const Entry& entry = entries_[index];
    if (entry.length < 0) return {};
    return {buffer_.data() + entry.begin, static_cast<std::size_t>(entry.length)};
}

void Parameters::begin(Oid type) {
    entries_.push_back({buffer_.size(), 0, type, 1});
}

void Parameters::end() {
    Entry& entry = entries_.back();
    entry.length = checked_length(buffer_.size() - entry.begin);
}

// The binary form of an array: dimensions, a flag for NULLs, the element's type, then per dimension
// its size and first index; each element is its length (-1: NULL) and its bytes.
void Parameters::put_array_head(Oid element, bool nulls, std::size_t size) {
    put(std::int32_t{size == 0 ? 0 : 1});
    put(std::int32_t{nulls ? 1 : 0});
    put(static_cast<std::int32_t>(element));
    if (size == 0) return;
    put(checked_length(size));
    put(std::int32_t{1});
}

std::size_t Parameters::begin_element() {
    put(std::int32_t{0});
    return buffer_.size();
}

void Parameters::end_element(std::size_t begin) {
    const auto length = wire::to_network(checked_length(buffer_.size() - begin));
    std::memcpy(buffer_.data() + begin - length.size(), length.data(), length.size());
}

void Parameters::put_null_element() {
    put(std::int32_t{-1});
}

void Parameters::put(bool value) {
    buffer_.push_back(value ? 1 : 0);
}

void Parameters::put(std::int16_t value) {
    append(buffer_, value);
}

void Parameters::put(std::int32_t value) {
    append(buffer_, value);
}

void Parameters::put(std::int64_t value) {
    append(buffer_, value);
}

void Parameters::put(double value) {
    append(buffer_, std::bit_cast<std::int64_t>(value));
}

void Parameters::put(std::string_view value) {
    buffer_.append(value);
}

void Parameters::put(std::span<const std::uint8_t> bytes) {
    buffer_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

void Parameters::put(base::Time value) {
    put(wire::timestamp_of(value));
}

}  // namespace tenon::postgres
