// Values on their way to PostgreSQL, in binary form.
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
#include "postgres/types.hpp"

namespace tenon::postgres {

/// The values of one statement, encoded as they are added: $1, $2, ...
///
/// Shape: bool, int16/32/64, double, text (std::string, string_view), bytea (Digest,
///        vector<uint8_t>), uuid, timestamptz (base::Time; Time::max() and min() are infinity and
///        -infinity), base::Bucket (int4), optional of each (NULL), and vector of each or of its
///        optional (a one-dimensional array, for unnest). At most 65,535 values.
///        A single text leaves its type to the server, so it also serves jsonb, inet or an enum
///        column without a cast; where nothing tells the type, write $1::text. The elements of
///        an array are of the type named above: write unnest($1::jsonb[]) for others.
///        A text with U+0000 must have been refused before.
/// Cost:  one buffer for all values, one allocation per growth.
class Parameters {
public:
    /// One value's place in the buffer.
    struct Entry {
        std::size_t begin;
        std::int32_t length;  ///< negative: NULL
        Oid type;
        /// 1 for binary. 0 for text, which is then followed by a zero byte, as libpq wants it.
        std::int32_t form;
    };

    template <class... T>
    static Parameters of(const T&... values) {
        Parameters parameters;
        (parameters.add(values), ...);
        return parameters;
    }

    void add(bool value) { add_one(value); }
    void add(std::int16_t value) { add_one(value); }
    void add(std::int32_t value) { add_one(value); }
    void add(std::int64_t value) { add_one(value); }
    void add(double value) { add_one(value); }
    void add(std::string_view value);
    void add(const std::string& value) { add(std::string_view(value)); }
    void add(const char* value) { add(std::string_view(value)); }
    void add(std::span<const std::uint8_t> bytes) { add_one(bytes); }
    void add(const base::Digest& value) { add_one(value); }
    void add(const base::Uuid& value) { add_one(value); }
    void add(base::Time value) { add_one(value); }
    void add(base::Bucket value) { add_one(value); }
    template <class T>
    void add(const std::optional<T>& value);
    template <class T>
    void add(const std::vector<T>& values);

    [[nodiscard]] std::size_t size() const { return entries_.size(); }
    [[nodiscard]] std::span<const Entry> entries() const { return entries_; }
    /// The encoded bytes of a value; empty for NULL.
    [[nodiscard]] std::string_view bytes(std::size_t index) const;
    /// How much memory all values take.
    [[nodiscard]] std::size_t bytes_total() const { return buffer_.size(); }

private:
    template <class T>
    void add_one(const T& value) {
        begin(oids_of<T>.scalar);
        put(value);
        end();
    }
    template <class T>
    void put_element(const T& value);

    void begin(Oid type);
    void end();
    void add_null(Oid type) { entries_.push_back({buffer_.size(), -1, type, 1}); }
    void put_array_head(Oid element, bool nulls, std::size_t size);
    std::size_t begin_element();
    void end_element(std::size_t begin);
    void put_null_element();

    void put(bool value);
    void put(std::int16_t value);
    void put(std::int32_t value);
    void put(std::int64_t value);
    void put(double value);
    void put(std::string_view value);
    void put(std::span<const std::uint8_t> bytes);
    void put(const base::Uuid& value) { put(std::span<const std::uint8_t>(value.bytes)); }
    void put(base::Time value);
    void put(base::Bucket value) { put(value.value); }

    std::string buffer_;
    std::vector<Entry> entries_;
};

template <class T>
void Parameters::add(const std::optional<T>& value) {
    if (value) {
        add(*value);
    } else if constexpr (is_array<T>) {
        add_null(oids_of<typename Required<typename T::value_type>::type>.array);
    } else {
        add_null(oids_of<T>.scalar == oid::text ? oid::unknown : oids_of<T>.scalar);
    }
}

template <class T>
void Parameters::add(const std::vector<T>& values) {
    if constexpr (!is_array<std::vector<T>>) {
        add(std::span<const std::uint8_t>(values));
    } else {
        constexpr TypeOids oids = oids_of<typename Required<T>::type>;
        static_assert(oids.array != 0, "no array of this type travels to PostgreSQL");
        begin(oids.array);
        put_array_head(oids.scalar, is_optional<T>, values.size());
        for (const auto& value : values) put_element<T>(value);
        end();
    }
}

template <class T>
void Parameters::put_element(const T& value) {
    if constexpr (is_optional<T>) {
        if (!value) return put_null_element();
        return put_element<typename Required<T>::type>(*value);
    } else {
        const std::size_t begin = begin_element();
        put(value);
        end_element(begin);
    }
}

}  // namespace tenon::postgres
