#include "http/response_text.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>

namespace tenon::http {

namespace {

constexpr std::array<std::string_view, 7> weekdays{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
constexpr std::array<std::string_view, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                  "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

void append_number(std::string& out, std::size_t value) {
    std::array<char, 20> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    out.append(digits.data(), end);
}

bool has_no_body(int status) {
    return status < 200 || status == 204 || status == 304;
}

}  // namespace

std::string_view reason_of(int status) {
    switch (status) {
        case 200:
            return "OK";
        case 201:
            return "Created";
        case 202:
            return "Accepted";
        case 204:
            return "No Content";
        case 301:
            return "Moved Permanently";
        case 302:
            return "Found";
        case 303:
            return "See Other";
        case 304:
            return "Not Modified";
        case 307:
            return "Temporary Redirect";
        case 308:
            return "Permanent Redirect";
        case 400:
            return "Bad Request";
        case 401:
            return "Unauthorized";
        case 403:
            return "Forbidden";
        case 404:
            return "Not Found";
        case 405:
            return "Method Not Allowed";
        case 408:
            return "Request Timeout";
        case 409:
            return "Conflict";
        case 410:
            return "Gone";
        case 413:
            return "Content Too Large";
        case 414:
            return "URI Too Long";
        case 415:
            return "Unsupported Media Type";
        case 417:
            return "Expectation Failed";
        case 422:
            return "Unprocessable Content";
        case 429:
            return "Too Many Requests";
        case 431:
            return "Request Header Fields Too Large";
        case 500:
            return "Internal Server Error";
        case 501:
            return "Not Implemented";
        case 503:
            return "Service Unavailable";
        case 504:
            return "Gateway Timeout";
        case 505:
            return "HTTP Version Not Supported";
        default:
            return "Unknown";
    }
}

void append_response(std::string& out, const Response& response, const Delivery& delivery,
                     std::string_view date) {
    const int status = response.status();
    out.append("HTTP/1.1 ");
    append_number(out, static_cast<std::size_t>(status));
    out.push_back(' ');
    out.append(reason_of(status)).append("\r\n").append(date);
    if (!has_no_body(status)) {
        out.append("Content-Length: ");
        append_number(out, response.body().size());
        out.append("\r\n");
    }
    out.append(response.headers());
    if (!delivery.keep_alive) {
        out.append("Connection: close\r\n");
    } else if (delivery.http_1_0) {
        out.append("Connection: keep-alive\r\n");
    }
    out.append("\r\n");
    if (!delivery.head_only && !has_no_body(status)) out.append(response.body());
}

void DateLine::write(std::chrono::sys_seconds second) {
    const auto day = std::chrono::floor<std::chrono::days>(second);
    const std::chrono::year_month_day date(day);
    const std::chrono::hh_mm_ss time(second - day);
    second_ = second;
    line_ = fmt::format(
        "Date: {}, {:02} {} {:04} {:02}:{:02}:{:02} GMT\r\n",
        weekdays[std::chrono::weekday(day).c_encoding()], static_cast<unsigned>(date.day()),
        months[static_cast<unsigned>(date.month()) - 1], static_cast<int>(date.year()),
        time.hours().count(), time.minutes().count(), time.seconds().count());
}

}  // namespace tenon::http
