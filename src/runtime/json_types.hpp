// Which types have a JSON form.
#pragma once

#include <boost/describe.hpp>
#include <boost/mp11.hpp>
#include <concepts>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/clock.hpp"

namespace tenon::runtime {

/// A member of a PATCH body: not there, null, or a value.
///
/// Shape: absent leaves a field as it is, null clears it, a value replaces it.
template <class T>
class Patch {
public:
    Patch() = default;
    explicit Patch(T value) : state_(State::value), value_(std::move(value)) {}
    [[nodiscard]] static Patch null() {
        Patch patch;
        patch.state_ = State::null;
        return patch;
    }

    [[nodiscard]] bool is_absent() const { return state_ == State::absent; }
    [[nodiscard]] bool is_null() const { return state_ == State::null; }
    [[nodiscard]] bool has_value() const { return state_ == State::value; }
    /// Expects: has_value().
    [[nodiscard]] const T& value() const { return value_; }
    /// Changes `field` as the patch says.
    void apply_to(std::optional<T>& field) const {
        if (is_null()) field.reset();
        if (has_value()) field = value_;
    }
    bool operator==(const Patch&) const = default;

private:
    enum class State { absent, null, value };
    State state_ = State::absent;
    T value_{};
};

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <class T>
inline constexpr bool is_patch = false;
template <class T>
inline constexpr bool is_patch<Patch<T>> = true;
template <class T>
inline constexpr bool is_vector = false;
template <class T>
inline constexpr bool is_vector<std::vector<T>> = true;
template <class T>
inline constexpr bool is_string_map = false;
template <class T>
inline constexpr bool is_string_map<std::map<std::string, T>> = true;

/// An enum whose values Boost.Describe can name.
template <class T>
concept DescribedEnum = std::is_enum_v<T> && boost::describe::has_describe_enumerators<T>::value;

/// A struct whose members Boost.Describe can name.
template <class T>
concept DescribedStruct = std::is_class_v<T> && boost::describe::has_describe_members<T>::value;

/// A described struct's public members with those of its bases.
template <class T>
using MembersOf = boost::describe::describe_members<T, boost::describe::mod_public |
                                                           boost::describe::mod_inherited>;

/// A described name as JSON has it: one '_' at its end, as in `delete_`, is left out.
[[nodiscard]] constexpr std::string_view json_name(const char* described) {
    std::string_view name(described);
    if (name.ends_with('_')) name.remove_suffix(1);
    return name;
}

}  // namespace tenon::runtime
