#include "http/server_fixture_test.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/write.hpp>

#include "http/text.hpp"

namespace tenon::http::testing {

namespace asio = boost::asio;
using asio::ip::tcp;

asio::awaitable<base::Result<Identity>> KnownKeys::identify(runtime::Call&,
                                                            std::string_view bearer) {
    Identity identity;
    identity.project.bytes[0] = 7;
    if (bearer == "broken") throw std::runtime_error("the key store is broken");
    if (bearer == "all" || bearer == "user") {
        identity.scopes = {"*"};
        if (bearer == "user") identity.subject = "u1";
        co_return identity;
    }
    if (bearer == "reader") {
        identity.scopes = {"things:read"};
        co_return identity;
    }
    co_return base::fail(errors::unauthenticated, "No such key.");
}

std::string Answer::header(std::string_view name) const {
    std::size_t at = head.find("\r\n");
    while (at != std::string::npos && at + 2 < head.size()) {
        const std::size_t end = head.find("\r\n", at + 2);
        const std::string line = head.substr(at + 2, end - at - 2);
        const std::size_t colon = line.find(": ");
        if (colon != std::string::npos && equal_without_case(line.substr(0, colon), name)) {
            return line.substr(colon + 2);
        }
        at = end;
    }
    return {};
}

Client::Client(std::uint16_t port, const std::string& address) : socket_(io_) {
    socket_.connect({asio::ip::make_address(address), port});
}

void Client::send(std::string_view bytes) {
    boost::system::error_code closed;
    asio::write(socket_, asio::buffer(bytes.data(), bytes.size()), closed);
}

bool Client::fill() {
    std::array<char, 65536> piece;
    boost::system::error_code closed;
    const std::size_t count = socket_.read_some(asio::buffer(piece), closed);
    received_.append(piece.data(), count);
    return count > 0;
}

std::optional<Answer> take_answer(std::string& received, bool head_only) {
    const std::size_t end = received.find("\r\n\r\n");
    if (end == std::string::npos) return std::nullopt;
    Answer answer;
    answer.head = received.substr(0, end + 2);
    answer.status = std::stoi(answer.head.substr(9, 3));
    const std::string told = answer.header("Content-Length");
    const std::size_t length = head_only || told.empty() ? 0 : std::stoul(told);
    if (received.size() < end + 4 + length) return std::nullopt;
    answer.body = received.substr(end + 4, length);
    received.erase(0, end + 4 + length);
    return answer;
}

Answer Client::receive(bool head_only) {
    for (;;) {
        if (auto answer = take_answer(received_, head_only)) return *std::move(answer);
        if (!fill()) return {};
    }
}

std::string Client::receive_all() {
    while (fill()) {
    }
    return std::exchange(received_, {});
}

void Client::shutdown_send() {
    socket_.shutdown(tcp::socket::shutdown_send);
}

void Client::set_receive_buffer(int bytes) {
    socket_.set_option(asio::socket_base::receive_buffer_size(bytes));
}

ServerTest::ServerTest() {
    options_.port = 0;
    router_.set_fallback(
        [](runtime::Core&, const Request& request, Response& response) {
            if (request.path == "/slow") return false;
            response.set_status(302);
            response.add_header("Location", std::string("https://a.example").append(request.path));
            return true;
        },
        [](runtime::Call&, const Request&, Response& response) -> asio::awaitable<void> {
            response.set_status(302);
            response.add_header("Location", "https://a.example/from-afar");
            co_return;
        });
}

ServerTest::~ServerTest() {
    if (server_) server_->drain(std::chrono::seconds(5));
    cores_.stop();
}

void ServerTest::start() {
    server_ = std::make_unique<Server>(cores_, router_, keys_, options_);
    server_->listen();
    cores_.start();
    server_->start();
}

}  // namespace tenon::http::testing
