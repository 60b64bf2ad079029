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

void Response::add_header(std::string_view name, std::string_view value) {
    constexpr std::string_view line_breaks{"\r\n\0", 3};
    TENON_ASSERT(name.find_first_of(line_breaks) == std::string_view::npos);
    TENON_ASSERT(value.find_first_of(line_breaks) == std::string_view::npos);
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
