// The one place where background failures become visible.
#pragma once

#include <exception>
#include <string>
#include <string_view>

namespace tenon::runtime {

/// True for the exception by which Asio ends a cancelled wait.
[[nodiscard]] bool is_cancellation(const std::exception_ptr& failure);

/// Writes that the coroutine or job `name` ended by `failure`.
void report_failure(std::string_view name, const std::exception_ptr& failure);

/// What an exception says, also when it is not a std::exception.
[[nodiscard]] std::string describe_failure(const std::exception_ptr& failure);

}  // namespace tenon::runtime
