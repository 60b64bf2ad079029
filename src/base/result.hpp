// The return type of everything whose failure a caller can act on.
#pragma once

#include <expected>
#include <string>
#include <utility>

#include "base/error.hpp"

namespace tenon::base {

/// A value, or the Error that says why there is none (docs/adr/0003-result-and-exceptions.md).
template <class T = void>
using Result = std::expected<T, Error>;

/// Makes the failing side of a Result.
[[nodiscard]] inline std::unexpected<Error> fail(const ErrorType& type, std::string detail) {
    return std::unexpected<Error>(Error(type, std::move(detail)));
}

[[nodiscard]] inline std::unexpected<Error> fail(Error error) {
    return std::unexpected<Error>(std::move(error));
}

}  // namespace tenon::base
