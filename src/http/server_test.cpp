// What a well-behaved client sees.
#include "http/server.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <future>

#include "http/server_fixture_test.hpp"
#include "runtime/failure.hpp"

namespace tenon::http::testing {

namespace asio = boost::asio;

namespace {

asio::awaitable<void> answer_body(runtime::Call&, const Request& request, Response& response) {
    response.set_body("text/plain", request.body);
    co_return;
}

class Serving : public ServerTest {
protected:
    Serving() {
        router_.add_raw({.method = Method::post, .path = "/echo"}, answer_body);
        router_.add_raw({.method = Method::get, .path = "/address"},
                        [](runtime::Call&, const Request& request,
                           Response& response) -> asio::awaitable<void> {
                            response.set_body("text/plain", request.remote_address);
                            co_return;
                        });
    }
};

TEST_F(Serving, AnswersARedirectAtOnce) {
    start();
    Client client(port());
    const Answer answer = client.ask("GET /abc HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_EQ(answer.status, 302);
    EXPECT_EQ(answer.header("Location"), "https://a.example/abc");
    EXPECT_EQ(answer.header("Content-Length"), "0");
    EXPECT_EQ(answer.header("Date").size(), 29u);
    EXPECT_EQ(answer.header("Connection"), "");
}

TEST_F(Serving, AsksTheHandlerWhatCannotBeAnsweredAtOnce) {
    start();
    Client client(port());
    for (int i = 0; i < 3; ++i) {
        const Answer answer = client.ask("GET /slow HTTP/1.1\r\nHost: h\r\n\r\n");
        EXPECT_EQ(answer.header("Location"), "https://a.example/from-afar");
        EXPECT_EQ(answer.header("Tenon-Request-Id").size(), 32u);
    }
}

TEST_F(Serving, AnswersOnBothLoopbackAddresses) {
    start();
    Client v4(port(), "127.0.0.1");
    Client v6(port(), "::1");
    EXPECT_EQ(v4.ask("GET /address HTTP/1.1\r\nHost: h\r\n\r\n").body, "127.0.0.1");
    EXPECT_EQ(v6.ask("GET /address HTTP/1.1\r\nHost: h\r\n\r\n").body, "::1");
}

TEST_F(Serving, KeepsOrderAmongPipelinedRequestsOfBothSorts) {
    start();
    Client client(port());
    std::string all;
    for (int i = 0; i < 64; ++i) {
        all += i % 3 == 0 ? "GET /slow HTTP/1.1\r\nHost: h\r\n\r\n"
                          : "GET /p" + std::to_string(i) + " HTTP/1.1\r\nHost: h\r\n\r\n";
    }
    client.send(all);
    for (int i = 0; i < 64; ++i) {
        const std::string path = i % 3 == 0 ? "/from-afar" : "/p" + std::to_string(i);
        EXPECT_EQ(client.receive().header("Location"), "https://a.example" + path);
    }
}

TEST_F(Serving, AnswersSixtyFourPipelinedRedirects) {
    start();
    Client client(port());
    std::string all;
    for (int i = 0; i < 64; ++i)
        all += "GET /p" + std::to_string(i) + " HTTP/1.1\r\nHost: h\r\n\r\n";
    client.send(all);
    for (int i = 0; i < 64; ++i) {
        EXPECT_EQ(client.receive().header("Location"), "https://a.example/p" + std::to_string(i));
    }
}

TEST_F(Serving, TakesBodiesWithALengthAndChunked) {
    start();
    Client client(port());
    EXPECT_EQ(client.ask("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello").body,
              "hello");
    EXPECT_EQ(client
                  .ask("POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
                       "5;x=y\r\nhello\r\n6\r\n world\r\n0\r\nTrailer: t\r\n\r\n")
                  .body,
              "hello world");
    const std::string large(900'000, 'x');
    EXPECT_EQ(
        client.ask("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 900000\r\n\r\n" + large).body,
        large);
}

TEST_F(Serving, SendsContinueToAClientThatWaitsForIt) {
    start();
    Client client(port());
    client.send(
        "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n"
        "Expect: 100-continue\r\n\r\n");
    EXPECT_EQ(client.receive().status, 100);
    EXPECT_EQ(client.ask("ok").body, "ok");
}

TEST_F(Serving, AnswersHeadForEveryGet) {
    start();
    Client client(port());
    const Answer answer = client.ask("HEAD /address HTTP/1.1\r\nHost: h\r\n\r\n", true);
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.header("Content-Length"), "9");
    // Had a body been sent, the next answer would not begin where it should.
    EXPECT_EQ(client.ask("GET /x HTTP/1.1\r\nHost: h\r\n\r\n").status, 302);
}

TEST_F(Serving, TellsWhichMethodsAPathHas) {
    start();
    Client client(port());
    const Answer options = client.ask("OPTIONS /address HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_EQ(options.status, 204);
    EXPECT_EQ(options.header("Allow"), "GET, HEAD, OPTIONS");
    const Answer wrong = client.ask("DELETE /echo HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_EQ(wrong.status, 405);
    EXPECT_EQ(wrong.header("Allow"), "POST, OPTIONS");
    EXPECT_EQ(wrong.header("Content-Type"), "application/problem+json");
    EXPECT_EQ(client.ask("POST /abc HTTP/1.1\r\nHost: h\r\n\r\n").status, 405);
    EXPECT_EQ(client.ask("GET /echo/deeper HTTP/1.1\r\nHost: h\r\n\r\n").status, 404);
}

TEST_F(Serving, KeepsAnOldClientsConnectionOnlyWhenAsked) {
    start();
    Client keeps(port());
    const Answer kept = keeps.ask("GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    EXPECT_EQ(kept.header("Connection"), "keep-alive");
    const Answer last = keeps.ask("GET /b HTTP/1.0\r\n\r\n");
    EXPECT_EQ(last.header("Connection"), "close");
    EXPECT_TRUE(keeps.is_closed());
}

TEST_F(Serving, ClosesWhenTheClientAsksForIt) {
    start();
    Client client(port());
    const Answer answer = client.ask("GET /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    EXPECT_EQ(answer.header("Connection"), "close");
    EXPECT_TRUE(client.is_closed());
}

TEST_F(Serving, AnswersAClientThatEndsItsSideEarly) {
    start();
    Client client(port());
    client.send("GET /slow HTTP/1.1\r\nHost: h\r\n\r\nGET /a HTTP/1.1\r\nHost: h\r\n\r\n");
    client.shutdown_send();
    EXPECT_EQ(client.receive().header("Location"), "https://a.example/from-afar");
    EXPECT_EQ(client.receive().header("Location"), "https://a.example/a");
    EXPECT_TRUE(client.is_closed());
}

TEST_F(Serving, NamesWhoHoldsABusyPort) {
    start();
    ServerOptions same;
    same.port = port();
    Server second(cores_, router_, keys_, same);
    try {
        second.listen();
        FAIL() << "two servers listen on one port";
    } catch (const std::runtime_error& error) {
        EXPECT_NE(std::string(error.what()).find(std::to_string(port())), std::string::npos);
        EXPECT_NE(std::string(error.what()).find("pid " + std::to_string(::getpid())),
                  std::string::npos)
            << error.what();
    }
}

TEST_F(Serving, TurnsAwayWhoIsOverTheMaximum) {
    options_.connections_max = 1;
    start();
    Client first(port());
    EXPECT_EQ(first.ask("GET /a HTTP/1.1\r\nHost: h\r\n\r\n").status, 302);
    Client second(port());
    const Answer answer = second.receive();
    EXPECT_EQ(answer.status, 503);
    EXPECT_EQ(answer.header("Connection"), "close");
    EXPECT_EQ(first.ask("GET /a HTTP/1.1\r\nHost: h\r\n\r\n").status, 302);
}

// Holds its request until nobody listens on `port` any more: until the server drains.
asio::awaitable<void> answer_when_closed(runtime::Call& call, std::uint16_t port,
                                         std::promise<void>& arrived, Response& response) {
    arrived.set_value();
    asio::ip::tcp::socket probe(call.core->io());
    boost::system::error_code refused;
    while (!refused) {
        probe = asio::ip::tcp::socket(call.core->io());
        co_await probe.async_connect({asio::ip::make_address("127.0.0.1"), port},
                                     asio::redirect_error(asio::use_awaitable, refused));
    }
    response.set_body("text/plain", "done");
}

TEST_F(Serving, FinishesRequestsInFlightWhenItDrains) {
    std::promise<void> arrived;
    router_.add_raw({.method = Method::get, .path = "/held"},
                    [&](runtime::Call& call, const Request&, Response& response) {
                        return answer_when_closed(call, port(), arrived, response);
                    });
    start();
    Client held(port());
    Client idle(port());
    EXPECT_EQ(idle.ask("GET /a HTTP/1.1\r\nHost: h\r\n\r\n").status, 302);
    held.send("GET /held HTTP/1.1\r\nHost: h\r\n\r\n");
    arrived.get_future().get();
    server_->drain(std::chrono::seconds(20));
    EXPECT_TRUE(idle.is_closed());
    const Answer answer = held.receive();
    EXPECT_EQ(answer.body, "done");
    EXPECT_EQ(answer.header("Connection"), "close");
    EXPECT_TRUE(held.is_closed());
}

TEST_F(Serving, CutsWhatDoesNotEndInTimeWhenItDrains) {
    std::promise<void> arrived;
    router_.add_raw({.method = Method::get, .path = "/held"},
                    [&](runtime::Call& call, const Request&, Response&) -> asio::awaitable<void> {
                        arrived.set_value();
                        asio::steady_timer never(call.core->io(),
                                                 asio::steady_timer::time_point::max());
                        co_await never.async_wait(asio::use_awaitable);
                    });
    start();
    Client held(port());
    held.send("GET /held HTTP/1.1\r\nHost: h\r\n\r\n");
    arrived.get_future().get();
    server_->drain(std::chrono::milliseconds(1));
    EXPECT_TRUE(held.is_closed());
}

}  // namespace

}  // namespace tenon::http::testing
