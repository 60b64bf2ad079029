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

namespace tenon::postgres {

/// The values of one statement, encoded as they are added: $1, $2, ...
///
/// Shape: bool, int16/32/64, double, text (std::string, string_view), bytea (Digest,
///        vector<uint8_t>), uuid, timestamptz (base::Time), base::Bucket (int4), optional of each
///        (NULL), and vector of each or of its optional (a one-dimensional array, for unnest).
///        A text with U+0000 must have been refused before.
/// Cost:  one buffer for all values, one allocation per growth.
class Parameters {
public:
    template <class... T>
    static Parameters of(const T&... values) {
        Parameters parameters;
        (parameters.add(values), ...);
        return parameters;
    }

    void add(bool value);
    void add(std::int16_t value);
    void add(std::int32_t value);
    void add(std::int64_t value);
    void add(double value);
    void add(std::string_view value);
    void add(const std::string& value) { add(std::string_view(value)); }
    void add(const char* value) { add(std::string_view(value)); }
    void add(std::span<const std::uint8_t> bytes);
    void add(const base::Digest& value) { add(std::span<const std::uint8_t>(value)); }
    void add(const base::Uuid& value);
    void add(base::Time value);
    void add(base::Bucket value) { add(value.value); }
    template <class T>
    void add(const std::optional<T>& value);
    template <class T>
    void add(const std::vector<T>& values);

    [[nodiscard]] std::size_t size() const { return entries_.size(); }
};

}  // namespace tenon::postgres
