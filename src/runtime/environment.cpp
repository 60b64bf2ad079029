#include "runtime/environment.hpp"

#include <unistd.h>

namespace tenon::runtime {

std::string_view environment_value(std::string_view name) {
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        std::string_view text(*entry);
        if (!text.starts_with(name)) continue;
        text.remove_prefix(name.size());
        if (text.starts_with('=')) return text.substr(1);
    }
    return {};
}

}  // namespace tenon::runtime
