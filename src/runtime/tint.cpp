#include "runtime/tint.hpp"

#include <fmt/format.h>

namespace tenon::runtime {

namespace {

int code_of(Tint tint) {
    switch (tint) {
        case Tint::red:
            return 31;
        case Tint::yellow:
            return 33;
        case Tint::green:
            return 32;
        case Tint::faint:
            return 2;
    }
    return 0;
}

}  // namespace

std::string tinted(Tint tint, std::string_view text) {
    return fmt::format("\033[{}m{}\033[0m", code_of(tint), text);
}

}  // namespace tenon::runtime
