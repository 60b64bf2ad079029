#include "http/message.hpp"

#include "base/assert.hpp"
#include "http/text.hpp"

namespace tenon::http {

std::optional<std::string_view> Request::header(std::string_view name) const {
    for (const Header& one : headers) {
        if (equal_without_case(one.name, name)) return one.value;
    }
    return std::nullopt;
}

namespace {

// By three searches for one character, each some times as fast as one for any of three.
bool has_line_break(std::string_view text) {
    return text.contains('\r') || text.contains('\n') || text.contains('\0');
}

}  // namespace

void Response::add_header(std::string_view name, std::string_view value) {
    TENON_ASSERT(!has_line_break(name) && !has_line_break(value));
    headers_.append(name).append(": ").append(value).append("\r\n");
}

void Response::set_body(std::string_view content_type, std::string_view body) {
    add_header("Content-Type", content_type);
    body_.assign(body);
}

void Response::clear() {
    status_ = 200;
    headers_.clear();
    body_.clear();
}

}  // namespace tenon::http
