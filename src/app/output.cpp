#include "app/output.hpp"

#include <cstdio>

namespace tenon::app {

void print(std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
}

void complain(std::string_view sentence) {
    std::fprintf(stderr, "tenon: %.*s\n", static_cast<int>(sentence.size()), sentence.data());
}

}  // namespace tenon::app
