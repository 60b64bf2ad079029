#include "http/text.hpp"

#include "runtime/json_text.hpp"

namespace tenon::http {

bool is_utf8(std::string_view text) {
    while (!text.empty()) {
        const std::size_t length = runtime::utf8_length(text);
        if (length == 0) return false;
        text.remove_prefix(length);
    }
    return true;
}

}  // namespace tenon::http
