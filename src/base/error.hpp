// What a caller can act on, as a value: a type that never changes its name, and what to do next.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tenon::base {

/// What a caller should make of an error, independent of which service it came from.
enum class Kind : std::uint8_t {
    invalid,          ///< the input is malformed: correct it (HTTP 400)
    unauthenticated,  ///< no valid credentials (401)
    forbidden,        ///< valid credentials without the right (403)
    not_found,        ///< no such thing for this caller (404)
    conflict,         ///< the present state forbids it (409)
    gone,             ///< it was there and is not coming back (410)
    too_large,        ///< over a stated bound (413)
    unsupported,      ///< media type, method or version not offered (415)
    unprocessable,    ///< well-formed, but refused by a rule (422)
    rate_limited,     ///< repeat later (429)
    unavailable,      ///< an engine is away: repeat later (503)
};

/// The descriptor of one error, declared once in a room's errors.hpp as an `inline constexpr`.
struct ErrorType {
    std::string_view slug;    ///< stable, "room.what", the last part of the problem's `type`
    Kind kind;                ///< which HTTP status it becomes
    std::string_view title;   ///< one short sentence, the same for every occurrence
    bool repeatable = false;  ///< true when the same call may succeed later
};

/// One refused field of an input.
struct FieldError {
    std::string pointer;   ///< RFC 6901 JSON pointer into the body, or a parameter's name
    std::string expected;  ///< what would have been accepted
};

/// An occurrence of an ErrorType.
///
/// Owns: its texts; the type is borrowed from static storage.
class Error {
public:
    Error(const ErrorType& type, std::string detail) : type_(&type), detail_(std::move(detail)) {}

    [[nodiscard]] const ErrorType& type() const { return *type_; }
    [[nodiscard]] bool is(const ErrorType& type) const { return type_ == &type; }
    /// Says what was wrong with this call and what to do next.
    [[nodiscard]] const std::string& detail() const { return detail_; }
    [[nodiscard]] const std::vector<FieldError>& fields() const { return fields_; }
    /// Zero when the error names no time.
    [[nodiscard]] std::chrono::seconds retry_after() const { return retry_after_; }

    Error& add_field(std::string pointer, std::string expected) {
        fields_.push_back({std::move(pointer), std::move(expected)});
        return *this;
    }
    Error& repeat_after(std::chrono::seconds wait) {
        retry_after_ = wait;
        return *this;
    }

private:
    const ErrorType* type_;
    std::string detail_;
    std::vector<FieldError> fields_;
    std::chrono::seconds retry_after_{0};
};

}  // namespace tenon::base
