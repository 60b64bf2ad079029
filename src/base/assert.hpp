// Bugs end the process, in production too; input from outside never meets this macro.
#pragma once

namespace tenon::base {

/// Writes the broken expectation to stderr and aborts.
[[noreturn]] void fail_assertion(const char* expression, const char* file, int line);

}  // namespace tenon::base

#define TENON_ASSERT(expression)   \
    (static_cast<bool>(expression) \
         ? static_cast<void>(0)    \
         : ::tenon::base::fail_assertion(#expression, __FILE__, __LINE__))
