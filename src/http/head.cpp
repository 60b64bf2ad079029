#include "http/head.hpp"

#include <algorithm>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <cstring>
#include <functional>

#include "http/errors.hpp"
#include "http/text.hpp"

namespace tenon::http {

namespace {

namespace beast = boost::beast;
using beast::http::field;
using beast::http::verb;

// Room for the method, two spaces and the version around a target.
constexpr std::size_t request_line_slack = 32;

constexpr Refusal repeated_length{
    &errors::ambiguous_length,
    "Send Content-Length once, with one number, or chunked, never both."};
constexpr Refusal bad_host{&errors::bad_host, "Send one Host header with a host and maybe a port."};
constexpr Refusal bad_target{
    &errors::malformed,
    "The target must be a path, or an http URL, with everything outside ASCII percent-encoded."};

std::string_view view(beast::string_view text) {
    return {text.data(), text.size()};
}

Method method_of(verb name) {
    switch (name) {
        case verb::get:
            return Method::get;
        case verb::head:
            return Method::head;
        case verb::post:
            return Method::post;
        case verb::put:
            return Method::put;
        case verb::patch:
            return Method::patch;
        case verb::delete_:
            return Method::del;
        case verb::options:
            return Method::options;
        default:
            return Method::other;
    }
}

bool is_host_character(char c) {
    return (c >= '0' && c <= '9') || (lower(c) >= 'a' && lower(c) <= 'z') ||
           std::string_view("-._~%!$&'()*+;=:[]").find(c) != std::string_view::npos;
}

bool is_target_character(char c) {
    return c > ' ' && c < 0x7F && c != '#';
}

// Cuts a target into path and query; false when it is in no form that is served.
bool cut_target(std::string_view target, Request& request) {
    request.target = target;
    if (!std::ranges::all_of(target, is_target_character)) return false;
    if (target == "*") {
        request.path = target;
        return request.method == Method::options;
    }
    if (target.front() != '/') {
        const std::size_t scheme = target.find("://");
        if (scheme == std::string_view::npos) return false;
        const std::string_view name = target.substr(0, scheme);
        if (!equal_without_case(name, "http") && !equal_without_case(name, "https")) return false;
        const std::size_t path = target.find_first_of("/?", scheme + 3);
        target = path == std::string_view::npos ? std::string_view("/") : target.substr(path);
    }
    const std::size_t mark = target.find('?');
    request.path = target.substr(0, mark);
    if (request.path.empty()) request.path = "/";
    request.query = mark == std::string_view::npos ? std::string_view() : target.substr(mark + 1);
    return true;
}

Refusal long_target(const Limits& limits) {
    return {.type = &errors::target_too_long,
            .detail = "Use a shorter URL",
            .limit = limits.target_bytes_max,
            .unit = "bytes of path and query"};
}

Refusal long_head(const Limits& limits) {
    return {.type = &errors::header_too_large,
            .detail = "Send fewer or shorter headers",
            .limit = limits.header_bytes_max,
            .unit = "bytes in all"};
}

Refusal many_headers(const Limits& limits) {
    return {.type = &errors::header_too_large,
            .detail = "Send fewer headers",
            .limit = limits.headers_max,
            .unit = "of them"};
}

// Beast's parser, told to keep views into the input instead of copies.
class HeadReader final : public beast::http::basic_parser<true> {
public:
    HeadReader(std::string_view bytes, const Limits& limits, Head& head)
        : bytes_(bytes), limits_(limits), head_(head) {
        header_limit(static_cast<std::uint32_t>(limits.header_bytes_max));
        body_limit(boost::none);
    }

    std::optional<Refusal> read() {
        beast::error_code failure;
        const std::size_t used = put({bytes_.data(), bytes_.size()}, failure);
        if (refusal_.type != nullptr) return refusal_;
        if (failure) return explain(failure);
        // The scanner found the empty line at the very end; a parser that stopped earlier saw
        // another end than it did, and then nobody knows where the next request begins.
        if (used != bytes_.size()) return malformed();
        if (host_count_ == 0 && !head_.http_1_0) return bad_host;
        head_.keep_alive = keep_alive();
        head_.chunked = chunked();
        head_.content_length = content_length().value_or(0);
        return std::nullopt;
    }

private:
    static Refusal malformed() {
        return {&errors::malformed, "Send a request line and headers as RFC 9112 writes them."};
    }

    [[nodiscard]] Refusal explain(beast::error_code failure) const {
        using beast::http::error;
        if (failure == error::bad_version && names_version()) {
            return {&errors::version_unsupported, "Use HTTP/1.1 or HTTP/1.0."};
        }
        if (failure == error::bad_content_length || failure == error::multiple_content_length ||
            failure == error::bad_transfer_encoding) {
            return repeated_length;
        }
        if (failure == error::header_limit) {
            return long_head(limits_);
        }
        return malformed();
    }

    // True when the request line ends in another "HTTP/d.d" than ours.
    [[nodiscard]] bool names_version() const {
        const std::string_view line = bytes_.substr(0, bytes_.find('\r'));
        if (line.size() < 9) return false;
        const std::string_view version = line.substr(line.size() - 9);
        const auto digit = [](char c) { return c >= '0' && c <= '9'; };
        if (version == " HTTP/1.1" || version == " HTTP/1.0") return false;
        return version.starts_with(" HTTP/") && digit(version[6]) && version[7] == '.' &&
               digit(version[8]);
    }

    void refuse(Refusal refusal, beast::error_code& failure) {
        refusal_ = refusal;
        failure = beast::http::error::bad_value;
    }

    void on_request_impl(verb method, beast::string_view, beast::string_view target, int version,
                         beast::error_code& failure) override {
        head_.request.method = method_of(method);
        head_.http_1_0 = version == 10;
        if (target.size() > limits_.target_bytes_max) {
            return refuse(long_target(limits_), failure);
        }
        if (!cut_target(view(target), head_.request)) refuse(bad_target, failure);
    }

    void on_field_impl(field name, beast::string_view name_text, beast::string_view value,
                       beast::error_code& failure) override {
        if (is_folded(name_text, value)) return refuse(malformed(), failure);
        if (head_.request.headers.size() == limits_.headers_max) {
            return refuse(many_headers(limits_), failure);
        }
        head_.request.headers.push_back({view(name_text), view(value)});
        check(name, view(value), failure);
    }

    // A folded value lies outside the input (joined by Beast), or behind another line's end.
    [[nodiscard]] bool is_folded(beast::string_view name, beast::string_view value) const {
        const char* const begin = name.data() + name.size();
        if (value.empty()) {
            const char* const end = begin + 1 + std::strspn(begin + 1, " \t");
            return end[2] == ' ' || end[2] == '\t';
        }
        const std::less<const char*> before;
        if (before(value.data(), begin) || before(bytes_.data() + bytes_.size(), value.data())) {
            return true;
        }
        return std::memchr(begin, '\r', static_cast<std::size_t>(value.data() - begin)) != nullptr;
    }

    void check(field name, std::string_view value, beast::error_code& failure) {
        switch (name) {
            case field::host:
                if (++host_count_ > 1 || !std::ranges::all_of(value, is_host_character)) {
                    refuse(bad_host, failure);
                }
                break;
            case field::content_length:
                if (++length_count_ > 1 || value.find(',') != std::string_view::npos) {
                    refuse(repeated_length, failure);
                }
                break;
            case field::transfer_encoding:
                check_coding(value, failure);
                break;
            case field::expect:
                if (!equal_without_case(value, "100-continue")) {
                    return refuse(
                        {&errors::expectation_unsupported, "Only 100-continue is understood."},
                        failure);
                }
                head_.expect_continue = !head_.http_1_0;
                break;
            default:
                break;
        }
    }

    void check_coding(std::string_view value, beast::error_code& failure) {
        if (head_.http_1_0) return refuse(repeated_length, failure);
        if (!equal_without_case(value, "chunked")) {
            refuse({&errors::coding_unsupported, "Send the body chunked or with Content-Length."},
                   failure);
        }
    }

    // Bodies are taken from the buffer without this parser, which ends with the head.
    void on_response_impl(int, beast::string_view, int, beast::error_code&) override {}
    void on_header_impl(beast::error_code&) override {}
    void on_body_init_impl(const boost::optional<std::uint64_t>&, beast::error_code&) override {}
    std::size_t on_body_impl(beast::string_view, beast::error_code&) override { return 0; }
    void on_chunk_header_impl(std::uint64_t, beast::string_view, beast::error_code&) override {}
    std::size_t on_chunk_body_impl(std::uint64_t, beast::string_view, beast::error_code&) override {
        return 0;
    }
    void on_finish_impl(beast::error_code&) override {}

    std::string_view bytes_;
    const Limits& limits_;
    Head& head_;
    Refusal refusal_;
    int host_count_ = 0;
    int length_count_ = 0;
};

// Constants, such as the path of "http://a.example", do not lie in the buffer and stay.
void move_view(std::string_view& text, std::string_view from, const char* to) {
    const std::less<const char*> before;
    if (before(text.data(), from.data())) return;
    if (before(from.data() + from.size(), text.data())) return;
    text = {to + (text.data() - from.data()), text.size()};
}

}  // namespace

void Head::clear() {
    const std::string_view address = request.remote_address;
    std::vector<Header> headers = std::move(request.headers);
    headers.clear();
    *this = Head{};
    request.headers = std::move(headers);
    request.remote_address = address;
}

void Head::rebase(std::string_view from, const char* to) {
    move_view(request.target, from, to);
    move_view(request.path, from, to);
    move_view(request.query, from, to);
    move_view(request.body, from, to);
    for (Header& one : request.headers) {
        move_view(one.name, from, to);
        move_view(one.value, from, to);
    }
}

HeadScanner::Result HeadScanner::scan(std::string_view bytes, const Limits& limits) {
    const std::size_t request_line_max = limits.target_bytes_max + request_line_slack;
    const std::string_view seen = bytes.substr(0, limits.header_bytes_max);
    while (seen_ < seen.size()) {
        const std::size_t feed = seen.find('\n', seen_);
        const std::size_t line_end = std::min(feed, seen.size());
        if (line_begin_ == 0 && line_end > request_line_max) return {0, long_target(limits)};
        seen_ = line_end;
        if (feed == std::string_view::npos) break;
        if (feed == 0 || seen[feed - 1] != '\r') {
            return {0, Refusal{&errors::malformed, "End every line with CR LF."}};
        }
        if (feed - line_begin_ == 1) return {feed + 1, std::nullopt};
        seen_ = line_begin_ = feed + 1;
    }
    if (bytes.size() >= limits.header_bytes_max) {
        return {0, long_head(limits)};
    }
    return {};
}

std::optional<Refusal> read_head(std::string_view bytes, const Limits& limits, Head& head) {
    head.clear();
    return HeadReader(bytes, limits, head).read();
}

}  // namespace tenon::http
