#include "base/assert.hpp"

#include <cstdio>
#include <cstdlib>

namespace tenon::base {

void fail_assertion(const char* expression, const char* file, int line) {
    std::fprintf(stderr, "tenon: bug: %s does not hold (%s:%d)\n", expression, file, line);
    std::abort();
}

}  // namespace tenon::base
