// What clients get that break the rules, by accident or on purpose.
#include <boost/asio/write.hpp>

#include "http/server_fixture_test.hpp"

namespace tenon::http::testing {

namespace {

using std::chrono::milliseconds;
using namespace std::string_view_literals;

class Hostile : public ServerTest {
protected:
    Hostile() {
        router_.add_raw({.method = Method::post, .path = "/echo"},
                        [](runtime::Call&, const Request& request,
                           Response& response) -> boost::asio::awaitable<void> {
                            response.set_body("text/plain", request.body);
                            co_return;
                        });
    }

    // The request is refused with that status and problem, and the connection closes.
    void expect_refused(std::string_view bytes, int status, std::string_view slug) {
        if (!server_) start();
        Client client(port());
        const Answer answer = client.ask(bytes);
        EXPECT_EQ(answer.status, status) << bytes.substr(0, 200);
        EXPECT_EQ(answer.header("Connection"), "close");
        EXPECT_EQ(answer.header("Content-Type"), "application/problem+json");
        EXPECT_NE(answer.body.find("https://tenon.dev/problems/" + std::string(slug) + "\""),
                  std::string::npos)
            << answer.body;
        EXPECT_TRUE(client.is_closed());
    }
};

TEST_F(Hostile, AmbiguousLengthsAreRefused) {
    const std::string post = "POST /echo HTTP/1.1\r\nHost: h\r\n";
    const char* const slug = "http.ambiguous_length";
    expect_refused(post + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400,
                   slug);
    expect_refused(post + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n", 400,
                   slug);
    expect_refused(post + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello", 400, slug);
    expect_refused(post + "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello", 400, slug);
    expect_refused(post + "Content-Length: 5, 5\r\n\r\nhello", 400, slug);
    expect_refused(post + "Content-Length: -1\r\n\r\n", 400, slug);
    expect_refused(post + "Content-Length: +5\r\n\r\nhello", 400, slug);
    expect_refused(post + "Content-Length: 0x5\r\n\r\nhello", 400, slug);
    expect_refused(post + "Content-Length: 99999999999999999999\r\n\r\n", 400, slug);
    expect_refused(post + "Content-Length:\r\n\r\n", 400, slug);
    expect_refused(post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", 400,
                   slug);
    expect_refused("POST /echo HTTP/1.0\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n", 400,
                   slug);
}

TEST_F(Hostile, OtherCodingsAreRefused) {
    const std::string post = "POST /echo HTTP/1.1\r\nHost: h\r\n";
    expect_refused(post + "Transfer-Encoding: gzip, chunked\r\n\r\n", 501,
                   "http.coding_unsupported");
    expect_refused(post + "Transfer-Encoding: xchunked\r\n\r\n", 501, "http.coding_unsupported");
    expect_refused(post + "Expect: a-miracle\r\n\r\n", 417, "http.expectation_unsupported");
}

TEST_F(Hostile, MalformedHeadsAreRefused) {
    const char* const slug = "http.malformed";
    expect_refused("GET /a HTTP/1.1\nHost: h\n\n", 400, slug);
    expect_refused("GET /a HTTP/1.1\r\nHost: h\nX: y\r\n\r\n", 400, slug);
    expect_refused("GET /a HTTP/1.1\r\nHost: h\r\nX: a\r\n b\r\n\r\n", 400, slug);
    expect_refused("GET /a HTTP/1.1\r\nHost: h\r\nX:\r\n b\r\n\r\n", 400, slug);
    expect_refused("GET /a HTTP/1.1\r\nHost: h\r\nX: \r\n\t\r\n\r\n", 400, slug);
    expect_refused("GET /a HTTP/1.1\r\nHost: h\r\nX: a\r\n \r\n\r\n", 400, slug);
    expect_refused("GET /a HTTP/1.1\r\nHost: h\r\nX: a\0b\r\n\r\n"sv, 400, slug);
    expect_refused("GET /a HTTP/1.1\r\nHost: h\r\nX: a\rb\r\n\r\n", 400, slug);
    expect_refused("GET /a HTTP/1.1\r\nHost: h\r\nX : a\r\n\r\n", 400, slug);
    expect_refused("GET /a HTTP/1.1\r\nHost: h\r\n: a\r\n\r\n", 400, slug);
    expect_refused("GET /a HTTP/1.1\r\n Host: h\r\n\r\n", 400, slug);
    expect_refused("GET  /a HTTP/1.1\r\nHost: h\r\n\r\n", 400, slug);
    expect_refused("GET /a  HTTP/1.1\r\nHost: h\r\n\r\n", 400, slug);
    expect_refused("GET /a HTTP/1.1 \r\nHost: h\r\n\r\n", 400, slug);
    expect_refused("GET /a\r\nHost: h\r\n\r\n", 400, slug);
    expect_refused("GET /a#b HTTP/1.1\r\nHost: h\r\n\r\n", 400, slug);
    expect_refused("GET /\xC3\xA9 HTTP/1.1\r\nHost: h\r\n\r\n", 400, slug);
    expect_refused("GET a HTTP/1.1\r\nHost: h\r\n\r\n", 400, slug);
    expect_refused("GET * HTTP/1.1\r\nHost: h\r\n\r\n", 400, slug);
    expect_refused("GET ftp://h/a HTTP/1.1\r\nHost: h\r\n\r\n", 400, slug);
    expect_refused("\x16\x03\x01\x02\r\n\r\n", 400, slug);
}

TEST_F(Hostile, OtherVersionsAreRefused) {
    expect_refused("GET /a HTTP/2.0\r\nHost: h\r\n\r\n", 505, "http.version_unsupported");
    expect_refused("GET /a HTTP/0.9\r\nHost: h\r\n\r\n", 505, "http.version_unsupported");
    expect_refused("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505, "http.version_unsupported");
}

TEST_F(Hostile, AHostIsNeededOnceAndValid) {
    const char* const slug = "http.bad_host";
    expect_refused("GET /a HTTP/1.1\r\n\r\n", 400, slug);
    expect_refused("GET /a HTTP/1.1\r\nHost: h\r\nHost: h\r\n\r\n", 400, slug);
    expect_refused("GET /a HTTP/1.1\r\nHost: a b\r\n\r\n", 400, slug);
    expect_refused("GET /a HTTP/1.1\r\nHost: a/b\r\n\r\n", 400, slug);
    expect_refused("GET /a HTTP/1.1\r\nHost: u@h\r\n\r\n", 400, slug);
    expect_refused("GET /a HTTP/1.0\r\nHost: h\r\nHost: h\r\n\r\n", 400, slug);
}

TEST_F(Hostile, EverythingIsBounded) {
    options_.header_bytes_max = 4096;
    options_.target_bytes_max = 1024;
    options_.headers_max = 10;
    options_.body_bytes_max = 1000;
    const std::string get = "GET /a HTTP/1.1\r\nHost: h\r\n";
    const std::string post = "POST /echo HTTP/1.1\r\nHost: h\r\n";
    expect_refused("GET /" + std::string(1024, 'a') + " HTTP/1.1\r\nHost: h\r\n\r\n", 414,
                   "http.target_too_long");
    expect_refused("GET /" + std::string(3000, 'a'), 414, "http.target_too_long");
    expect_refused(get + "X: " + std::string(4096, 'a'), 431, "http.header_too_large");
    std::string many = get;
    for (int i = 0; i < 10; ++i) many += "X: a\r\n";
    expect_refused(many + "\r\n", 431, "http.header_too_large");
    // Refused before a byte of the body has come.
    expect_refused(post + "Content-Length: 1001\r\n\r\n", 413, "http.body_too_large");
    expect_refused(post + "Content-Length: 1001\r\nExpect: 100-continue\r\n\r\n", 413,
                   "http.body_too_large");
    expect_refused(post + "Transfer-Encoding: chunked\r\n\r\n3e9\r\n", 413, "http.body_too_large");
    expect_refused(post + "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n3e8\r\n", 413,
                   "http.body_too_large");
}

TEST_F(Hostile, MalformedChunksAreRefused) {
    const std::string post = "POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
    const char* const slug = "http.malformed";
    expect_refused(post + "x\r\n", 400, slug);
    expect_refused(post + "\r\n", 400, slug);
    expect_refused(post + "-1\r\n", 400, slug);
    expect_refused(post + "0x1\r\na\r\n", 400, slug);
    expect_refused(post + "1 1\r\na\r\n", 400, slug);
    expect_refused(post + "1\na\r\n", 400, slug);
    expect_refused(post + "1\r\nab\r\n", 400, slug);
    expect_refused(post + "1\r\na\n", 400, slug);
    expect_refused(post + "000000001\r\na\r\n", 400, slug);
    expect_refused(post + "1;" + std::string(5000, 'x'), 400, slug);
    expect_refused(post + "0\r\nT: " + std::string(5000, 'x'), 400, slug);
}

TEST_F(Hostile, ABodyIsNeverTakenForARequest) {
    start();
    Client client(port());
    client.send(
        "POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
        "23\r\nGET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n\r\n0\r\n\r\n"
        "GET /after HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_EQ(client.receive().body.substr(0, 13), "GET /smuggled");
    EXPECT_EQ(client.receive().header("Location"), "https://a.example/after");
}

TEST_F(Hostile, AHeadThatDoesNotEndIsGivenUp) {
    options_.header_timeout = milliseconds(50);
    expect_refused("GET /a HTTP/1.1\r\nHost: h\r\nX:", 408, "http.request_timeout");
    expect_refused("G", 408, "http.request_timeout");
}

TEST_F(Hostile, TricklingBytesDoNotRenewTheTimeForAHead) {
    options_.header_timeout = milliseconds(50);
    options_.header_bytes_max = 1024 * 1024;
    start();
    Client client(port());
    client.send("GET /a HTTP/1.1\r\nX: ");
    // Ends only because the server gives up: the client never stops sending.
    boost::system::error_code closed;
    while (!closed) {
        client.socket().write_some(boost::asio::buffer("a", 1), closed);
        if (client.socket().available() > 0) break;
    }
    EXPECT_EQ(client.receive().status, 408);
}

TEST_F(Hostile, ABodyThatDoesNotEndIsGivenUp) {
    options_.body_timeout = milliseconds(50);
    expect_refused("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhel", 408,
                   "http.request_timeout");
    expect_refused("POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel",
                   408, "http.request_timeout");
}

TEST_F(Hostile, ManyHalfSentBodiesLeaveRoomForSmallOnes) {
    options_.body_bytes_max = 256 * 1024;
    options_.bodies_bytes_max = 1024 * 1024;
    start();
    const std::string announced =
        "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 262144\r\n\r\n";
    std::vector<std::unique_ptr<Client>> halves;
    // Far more than there is room for, so some are refused, whatever the order of their arrival.
    for (int i = 0; i < 32; ++i) {
        halves.push_back(std::make_unique<Client>(port()));
        halves.back()->send(announced + std::string(200'000, 'x'));
    }
    int refused = 0;
    for (const auto& half : halves) {
        half->send(std::string(62'144, 'x'));
        const Answer answer = half->receive();
        if (answer.status == 200) continue;
        ++refused;
        EXPECT_EQ(answer.status, 503);
        EXPECT_EQ(answer.header("Retry-After"), "1");
        EXPECT_NE(answer.body.find("http.bodies_exhausted"), std::string::npos) << answer.body;
        EXPECT_TRUE(half->is_closed());
    }
    EXPECT_GT(refused, 0);
    EXPECT_LT(refused, 32);
    // All have ended, and their room is there again.
    Client whole(port());
    EXPECT_EQ(whole.ask(announced + std::string(262'144, 'x')).status, 200);
}

TEST_F(Hostile, AnIdleConnectionIsClosed) {
    options_.idle_timeout = milliseconds(50);
    start();
    Client silent(port());
    Client once(port());
    EXPECT_EQ(once.ask("GET /a HTTP/1.1\r\nHost: h\r\n\r\n").status, 302);
    EXPECT_TRUE(silent.is_closed());
    EXPECT_TRUE(once.is_closed());
}

TEST_F(Hostile, AClientThatDoesNotReadIsDropped) {
    options_.write_timeout = milliseconds(50);
    start();
    Client client(port());
    client.set_receive_buffer(4096);
    const std::string body(1'000'000, 'x');
    const std::string request =
        "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\n" + body;
    // Far more than the socket buffers hold; ends because the server resets the connection.
    boost::system::error_code failed;
    std::size_t sent = 0;
    for (int i = 0; i < 200 && !failed; ++i) {
        sent += boost::asio::write(client.socket(), boost::asio::buffer(request), failed);
    }
    EXPECT_TRUE(failed) << sent;
}

TEST_F(Hostile, AClientThatLeavesIsForgotten) {
    start();
    for (int i = 0; i < 20; ++i) {
        Client client(port());
        client.send("GET /slow HTTP/1.1\r\nHost: h\r\n\r\nGET /a HTTP/1.1\r\nHo");
    }
    Client client(port());
    EXPECT_EQ(client.ask("GET /a HTTP/1.1\r\nHost: h\r\n\r\n").status, 302);
}

TEST_F(Hostile, EmptyLinesAheadOfARequestAreSkipped) {
    start();
    Client client(port());
    EXPECT_EQ(client.ask("\r\n\r\nGET /a HTTP/1.1\r\nHost: h\r\n\r\n").status, 302);
}

TEST_F(Hostile, ARequestMayComeByteByByte) {
    start();
    Client client(port());
    for (const char c :
         std::string_view("POST /echo HTTP/1.1\r\nHost: h\r\n"
                          "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n")) {
        client.send({&c, 1});
    }
    EXPECT_EQ(client.receive().body, "hello");
}

}  // namespace

}  // namespace tenon::http::testing
