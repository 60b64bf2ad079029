#include "http/post.hpp"

#include <fmt/format.h>
#include <openssl/ssl.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/url/parse.hpp>

#include "http/errors.hpp"
#include "runtime/failure.hpp"
#include "runtime/wait.hpp"

namespace tenon::http {

namespace asio = boost::asio;
namespace beast = boost::beast;
using asio::ip::tcp;

namespace {

constexpr std::size_t answer_bytes_max = 64 * 1024;

base::Error invalid(std::string_view url) {
    return base::Error(errors::invalid_target,
                       fmt::format("{} is no URL such as http://127.0.0.1:4318/v1/traces", url));
}

using Message = beast::http::request<beast::http::string_body>;

Message message_of(const PostTarget& target, std::string_view content_type,
                   const std::string& body) {
    using beast::http::field;
    Message message(beast::http::verb::post, target.path, 11);
    message.set(field::host, target.authority);
    message.set(field::content_type, beast::string_view(content_type.data(), content_type.size()));
    message.set(field::user_agent, "tenon");
    message.set(field::connection, "close");
    message.body() = body;
    message.prepare_payload();
    return message;
}

template <class Stream>
asio::awaitable<PostAnswer> talk(Stream& stream, const Message& message) {
    co_await beast::http::async_write(stream, message, asio::use_awaitable);
    beast::flat_buffer buffer(answer_bytes_max);
    beast::http::response_parser<beast::http::string_body> parser;
    parser.body_limit(answer_bytes_max);
    co_await beast::http::async_read(stream, buffer, parser, asio::use_awaitable);
    const auto& answer = parser.get();
    co_return PostAnswer{.status = static_cast<int>(answer.result_int()),
                         .retry_after = answer[beast::http::field::retry_after],
                         .body = answer.body()};
}

asio::awaitable<void> connect(tcp::socket& socket, const PostTarget& target) {
    tcp::resolver resolver(socket.get_executor());
    const auto found =
        co_await resolver.async_resolve(target.host, target.port, asio::use_awaitable);
    co_await asio::async_connect(socket, found, asio::use_awaitable);
}

}  // namespace

base::Result<PostTarget> read_post_target(std::string_view url, std::string_view default_path) {
    const auto read = boost::urls::parse_uri(url);
    if (!read || read->has_userinfo() || read->has_fragment() || read->host().empty()) {
        return base::fail(invalid(url));
    }
    const bool secure = read->scheme_id() == boost::urls::scheme::https;
    if (!secure && read->scheme_id() != boost::urls::scheme::http) return base::fail(invalid(url));
    const std::string path(read->encoded_path());
    PostTarget target{
        .secure = secure,
        .host = read->host_address(),
        .port = read->has_port() ? std::string(read->port()) : std::string(secure ? "443" : "80"),
        .path = path.empty() || path == "/" ? std::string(default_path) : path,
        .authority = std::string(read->encoded_host_and_port())};
    if (read->has_query()) target.path.append("?").append(std::string(read->encoded_query()));
    if (read->has_port() && read->port_number() == 0) return base::fail(invalid(url));
    return target;
}

struct Poster::Tls {
    asio::ssl::context context{asio::ssl::context::tls_client};
};

Poster::Poster(PostTarget target) : target_(std::move(target)) {
    if (!target_.secure) return;
    try {
        tls_ = std::make_unique<Tls>();
        tls_->context.set_default_verify_paths();
        tls_->context.set_verify_mode(asio::ssl::verify_peer);
    } catch (const boost::system::system_error& failure) {
        throw runtime::Unavailable(failure.code().message(), std::chrono::seconds(1));
    }
}

Poster::~Poster() = default;

asio::awaitable<PostAnswer> Poster::post(runtime::Call& call, std::string_view content_type,
                                         const std::string& body) {
    std::string why;
    try {
        co_return co_await runtime::until(call.deadline, exchange(content_type, body));
    } catch (const boost::system::system_error& failure) {
        if (failure.code() == asio::error::operation_aborted) throw;
        why = failure.code().message();
    }
    throw runtime::Unavailable(fmt::format("{}: {}", target_.authority, why),
                               std::chrono::seconds(1));
}

asio::awaitable<PostAnswer> Poster::exchange(std::string_view content_type,
                                             const std::string& body) {
    const Message message = message_of(target_, content_type, body);
    tcp::socket socket(co_await asio::this_coro::executor);
    co_await connect(socket, target_);
    if (!tls_) co_return co_await talk(socket, message);
    asio::ssl::stream<tcp::socket&> stream(socket, tls_->context);
    stream.set_verify_callback(asio::ssl::host_name_verification(target_.host));
    // Names only: an address is no server name (RFC 6066, section 3).
    boost::system::error_code no_address;
    asio::ip::make_address(target_.host, no_address);
    if (no_address) SSL_set_tlsext_host_name(stream.native_handle(), target_.host.c_str());
    co_await stream.async_handshake(asio::ssl::stream_base::client, asio::use_awaitable);
    co_return co_await talk(stream, message);
}

}  // namespace tenon::http
