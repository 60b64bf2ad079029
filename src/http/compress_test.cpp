// Bodies that leave compressed, and bodies that may not come so.
#include "http/compress.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <zlib.h>

#include "http/problem.hpp"
#include "http/server_fixture_test.hpp"

namespace tenon::http::testing {

namespace asio = boost::asio;

namespace {

std::string unzip(std::string_view gzip) {
    z_stream z{};
    EXPECT_EQ(inflateInit2(&z, 15 + 16), Z_OK);
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(gzip.data()));
    z.avail_in = static_cast<uInt>(gzip.size());
    std::string text;
    int result = Z_OK;
    while (result == Z_OK) {
        std::array<char, 4096> piece;
        z.next_out = reinterpret_cast<Bytef*>(piece.data());
        z.avail_out = piece.size();
        result = inflate(&z, Z_NO_FLUSH);
        text.append(piece.data(), piece.size() - z.avail_out);
    }
    EXPECT_EQ(result, Z_STREAM_END);
    EXPECT_EQ(z.avail_in, 0u);
    inflateEnd(&z);
    return text;
}

bool accepts(const std::vector<std::string>& lines) {
    Request request;
    for (const std::string& line : lines) request.headers.push_back({"accept-encoding", line});
    return accepts_gzip(request);
}

TEST(AcceptEncoding, NamesGzip) {
    for (const char* yes :
         {"gzip", "GZIP", "x-gzip", "*", "br, gzip", "gzip, deflate, br, zstd", "gzip;q=1",
          "gzip; q=0.001", "gzip ; Q=1.000", "identity;q=0.5, gzip;q=0.5", "identity;q=0, *",
          "br;q=1.0, gzip;q=0.8, *;q=0.1", ",gzip,", "gzip;q=1."}) {
        EXPECT_TRUE(accepts({yes})) << yes;
    }
    for (const char* no :
         {"", "br", "identity", "gzip;q=0", "gzip;q=0.000", "*;q=0", "gzip;q=0, *",
          "gzip;q=0.5, identity", "gzip;q=2", "gzip;q=1.5", "gzip;q=-1", "gzip;q=", "gzip;q=x",
          "gzip;q=0.0001", "gzip;level=9", "gzip q=1", "gzipped", "identity, *;q=0.5", "gzip;"}) {
        EXPECT_FALSE(accepts({no})) << no;
    }
    EXPECT_TRUE(accepts({"br", "gzip"}));
    EXPECT_FALSE(accepts({}));
}

RC_GTEST_PROP(Compressor, IsUndoneByAnyGzip, ()) {
    static Compressor compressor;
    const auto text = *rc::gen::container<std::string>(rc::gen::arbitrary<char>());
    std::string gzip = "what was there before";
    RC_ASSERT(compressor.compress(text, gzip));
    RC_ASSERT(unzip(gzip) == text);
}

const std::string& long_text() {
    static const std::string text = [] {
        std::string made;
        while (made.size() < 20'000) made += "{\"line\":" + std::to_string(made.size()) + "}\n";
        return made;
    }();
    return text;
}

asio::awaitable<void> answer(Response& response, std::string_view type, std::string_view body) {
    response.set_body(type, body);
    co_return;
}

class Compressed : public ServerTest {
protected:
    Compressed() {
        add("/json", "application/json", long_text());
        add("/problem", "application/problem+json", long_text());
        add("/html", "text/html; charset=utf-8", long_text());
        add("/image", "image/png", long_text());
        add("/1024", "text/plain", std::string(1024, 'x'));
        add("/1023", "text/plain", std::string(1023, 'x'));
        add("/huge", "text/plain", std::string(2'000'000, 'x'));
        const auto constant = make_constant_body(long_text());
        router_.add_raw({.method = Method::get, .path = "/constant"},
                        [constant](runtime::Call&, const Request&, Response& response) {
                            response.set_constant_body("text/plain", constant);
                            return answer_nothing();
                        });
        router_.add_raw({.method = Method::post, .path = "/echo"},
                        [](runtime::Call&, const Request& request, Response& response) {
                            return answer(response, "application/octet-stream", request.body);
                        });
        start();
        client_ = std::make_unique<Client>(port());
    }

    static asio::awaitable<void> answer_nothing() { co_return; }
    void add(std::string_view path, std::string_view type, std::string body) {
        router_.add_raw(
            {.method = Method::get, .path = path},
            [type, body = std::move(body)](runtime::Call&, const Request&, Response& response) {
                return answer(response, type, body);
            });
    }
    Answer get(const std::string& path, const std::string& accepted = "gzip, br") {
        return client_->ask("GET " + path + " HTTP/1.1\r\nHost: h\r\nAccept-Encoding: " + accepted +
                            "\r\n\r\n");
    }

    std::unique_ptr<Client> client_;
};

TEST_F(Compressed, IsWhatIsTextAndLong) {
    for (const char* path : {"/json", "/problem", "/html", "/constant"}) {
        const Answer small = get(path);
        EXPECT_EQ(small.header("Content-Encoding"), "gzip") << path;
        EXPECT_EQ(small.header("Vary"), "Accept-Encoding") << path;
        EXPECT_LT(small.body.size(), long_text().size() / 4) << path;
        EXPECT_EQ(unzip(small.body), long_text()) << path;
        const Answer whole = get(path, "identity");
        EXPECT_EQ(whole.header("Content-Encoding"), "") << path;
        EXPECT_EQ(whole.header("Vary"), "Accept-Encoding") << path;
        EXPECT_EQ(whole.body, long_text()) << path;
    }
    EXPECT_EQ(unzip(get("/1024").body), std::string(1024, 'x'));
}

TEST_F(Compressed, IsNothingElse) {
    for (const char* path : {"/image", "/1023", "/abc", "/nothing/here"}) {
        const Answer answer = get(path);
        EXPECT_EQ(answer.header("Content-Encoding"), "") << path;
        EXPECT_EQ(answer.header("Vary"), "") << path;
    }
    EXPECT_EQ(get("/huge").header("Content-Encoding"), "");
    EXPECT_EQ(get("/huge").body.size(), 2'000'000u);
}

TEST_F(Compressed, HeadTellsWhatGetWouldSend) {
    const std::string rest = " /json HTTP/1.1\r\nHost: h\r\nAccept-Encoding: gzip\r\n\r\n";
    const Answer head = client_->ask("HEAD" + rest, true);
    const Answer got = client_->ask("GET" + rest);
    EXPECT_EQ(head.header("Content-Length"), std::to_string(got.body.size()));
    EXPECT_EQ(head.header("Content-Encoding"), "gzip");
}

TEST_F(Compressed, RequestsMustNotBe) {
    const auto post = [this](const std::string& headers) {
        return client_->ask("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n" + headers +
                            "\r\nhi");
    };
    for (const char* coding : {"gzip", "br", "gzip, identity", "nonsense", ""}) {
        const Answer refused = post(std::string("Content-Encoding: ") + coding + "\r\n");
        EXPECT_EQ(refused.status, 415) << coding;
        EXPECT_NE(refused.body.find("http.content_encoding"), std::string::npos) << coding;
        EXPECT_EQ(refused.header("Accept-Encoding"), "identity") << coding;
    }
    EXPECT_EQ(post("Content-Encoding: Identity\r\n").body, "hi");
    EXPECT_EQ(post("").body, "hi");
}

}  // namespace

}  // namespace tenon::http::testing
