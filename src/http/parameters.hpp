// Path and query parameters into a described struct.
#pragma once

#include <charconv>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "http/errors.hpp"
#include "http/route.hpp"
#include "http/schema.hpp"

namespace tenon::http {

/// Undoes percent-encoding.
///
/// Shape: nullopt for a '%' without two hexadecimal digits, for bytes that are not UTF-8 and for
///        U+0000. '+' is a space where `plus_is_space` (query strings).
[[nodiscard]] std::optional<std::string> decode_percent(std::string_view text, bool plus_is_space);

/// The parameters of a request as they were given.
///
/// Shape:   a query is name=value pairs between '&'; empty pairs are skipped, a name without '='
/// has
///          the empty value.
/// Errors:  collected: broken encoding, names that appear twice.
class GivenParameters {
public:
    GivenParameters(const Request& request, const Route& route);

    /// The value of a parameter, once; nullptr when it was not given.
    [[nodiscard]] const std::string* take(std::string_view name);
    /// Adds an error for every parameter that nobody took, with the nearest of `known`.
    void refuse_unknown(const std::vector<std::string_view>& known);
    void refuse(std::string_view name, std::string expected);
    [[nodiscard]] FieldErrors& errors() { return errors_; }

private:
    struct Given {
        std::string name;
        std::string value;
        bool from_path = false;
        bool taken = false;
    };
    void add(std::string_view name, std::string_view value, bool from_path);

    std::vector<Given> given_;
    FieldErrors errors_;
};

namespace detail {

// Each says what was expected when it refuses, and nothing otherwise.
[[nodiscard]] std::string assign(std::string& target, const std::string& text,
                                 const FieldSpec& field);
[[nodiscard]] std::string assign(bool& target, const std::string& text, const FieldSpec& field);
[[nodiscard]] std::string expected_integer(std::int64_t least, std::uint64_t most);

template <Integer T>
[[nodiscard]] std::string assign(T& target, const std::string& text, const FieldSpec& field) {
    const runtime::MemberBounds bounds = bounds_of(field);
    T least = std::numeric_limits<T>::min();
    T most = std::numeric_limits<T>::max();
    if (bounds.has_range() && std::cmp_greater(bounds.minimum, least)) {
        least = static_cast<T>(bounds.minimum);
    }
    if (bounds.has_range() && std::cmp_less(bounds.maximum, most)) {
        most = static_cast<T>(bounds.maximum);
    }
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, target);
    const bool whole = read.ec == std::errc{} && read.ptr == end;
    if (whole && target >= least && target <= most) return {};
    return expected_integer(static_cast<std::int64_t>(least), static_cast<std::uint64_t>(most));
}

template <class T>
[[nodiscard]] std::string assign(std::optional<T>& target, const std::string& text,
                                 const FieldSpec& field) {
    return assign(target.emplace(), text, field);
}

template <class T>
void fill_parameter(T& target, const FieldSpec& field, GivenParameters& given) {
    const std::string* const text = given.take(field.name);
    if (text == nullptr) {
        if (!runtime::is_optional<T>) given.refuse(field.name, "a value; it is required");
        return;
    }
    std::string expected = assign(target, *text, field);
    if (!expected.empty()) given.refuse(field.name, std::move(expected));
}

[[nodiscard]] base::Error parameters_refused(FieldErrors errors);

}  // namespace detail

/// Fills Params from the path's captures and the query string.
///
/// Errors: http.invalid_parameters with one FieldError per parameter that was refused.
template <class Params>
[[nodiscard]] base::Result<Params> read_parameters(const Request& request, const Route& route) {
    GivenParameters given(request, route);
    Params params{};
    std::vector<std::string_view> known;
    detail::for_each_field<Params>([&](auto member, const FieldSpec& field) {
        known.push_back(field.name);
        detail::fill_parameter(params.*member, field, given);
    });
    given.refuse_unknown(known);
    if (!given.errors().empty()) {
        return base::fail(detail::parameters_refused(std::move(given.errors())));
    }
    return params;
}

}  // namespace tenon::http
