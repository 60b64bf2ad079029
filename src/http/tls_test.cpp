// What clients meet on a port with a certificate.
#include "http/tls.hpp"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "http/server_fixture_test.hpp"

namespace tenon::http::testing {

namespace asio = boost::asio;
namespace fs = std::filesystem;

namespace {

using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using X509Owner = std::unique_ptr<X509, decltype(&X509_free)>;

Key make_key() {
    return {EVP_EC_gen("P-256"), EVP_PKEY_free};
}

// For "localhost", signed by itself.
X509Owner make_certificate(EVP_PKEY* key, long serial) {
    X509Owner certificate(X509_new(), X509_free);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), serial);
    X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -60);
    X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
    X509_set_pubkey(certificate.get(), key);
    X509_NAME* const name = X509_get_subject_name(certificate.get());
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>("localhost"), -1, -1, 0);
    X509_set_issuer_name(certificate.get(), name);
    X509_sign(certificate.get(), key, EVP_sha256());
    return certificate;
}

/// A certificate and its key in a folder that goes with it.
class Files {
public:
    Files() {
        std::string name = fs::temp_directory_path() / "tenon-tls.XXXXXX";
        EXPECT_NE(mkdtemp(name.data()), nullptr);
        folder_ = name;
    }
    ~Files() { fs::remove_all(folder_); }
    Files(const Files&) = delete;
    Files& operator=(const Files&) = delete;

    [[nodiscard]] std::string path(const std::string& name) const { return folder_ / name; }
    [[nodiscard]] CertificateFiles both() const {
        return {.certificate = path("certificate.pem"), .key = path("key.pem")};
    }
    void write(const std::string& name, std::string_view text) const {
        std::ofstream(path(name)) << text;
    }
    void write_key(EVP_PKEY* key, const std::string& passphrase = "") const {
        BIO* const file = BIO_new_file(path("key.pem").c_str(), "w");
        const EVP_CIPHER* const cipher = passphrase.empty() ? nullptr : EVP_aes_256_cbc();
        const auto* const words = reinterpret_cast<const unsigned char*>(passphrase.data());
        EXPECT_EQ(PEM_write_bio_PrivateKey(file, key, cipher, words,
                                           static_cast<int>(passphrase.size()), nullptr, nullptr),
                  1);
        BIO_free(file);
    }
    void write_certificate(X509* certificate) const {
        BIO* const file = BIO_new_file(path("certificate.pem").c_str(), "w");
        EXPECT_EQ(PEM_write_bio_X509(file, certificate), 1);
        BIO_free(file);
    }
    void make(long serial) const {
        const Key key = make_key();
        write_key(key.get());
        write_certificate(make_certificate(key.get(), serial).get());
    }

private:
    fs::path folder_;
};

/// How a client begins.
struct Offer {
    int version_min = TLS1_2_VERSION;
    int version_max = TLS1_3_VERSION;
    std::string protocols{};  ///< for ALPN, as on the wire
};

/// A blocking client within TLS, on a socket of the plain one.
class TlsClient {
public:
    explicit TlsClient(std::uint16_t port, const Offer& offer = {})
        : plain_(port), context_(SSL_CTX_new(TLS_client_method()), SSL_CTX_free) {
        SSL_CTX_set_security_level(context_.get(), 0);
        SSL_CTX_set_min_proto_version(context_.get(), offer.version_min);
        SSL_CTX_set_max_proto_version(context_.get(), offer.version_max);
        session_.reset(SSL_new(context_.get()));
        if (!offer.protocols.empty()) {
            SSL_set_alpn_protos(session_.get(),
                                reinterpret_cast<const unsigned char*>(offer.protocols.data()),
                                static_cast<unsigned>(offer.protocols.size()));
        }
        SSL_set_fd(session_.get(), plain_.socket().native_handle());
        ERR_clear_error();
        connected_ = SSL_connect(session_.get()) == 1;
    }

    [[nodiscard]] bool is_connected() const { return connected_; }
    [[nodiscard]] std::string version() const { return SSL_get_version(session_.get()); }
    [[nodiscard]] std::string protocol() const {
        const unsigned char* chosen = nullptr;
        unsigned size = 0;
        SSL_get0_alpn_selected(session_.get(), &chosen, &size);
        return {reinterpret_cast<const char*>(chosen), size};
    }
    [[nodiscard]] long serial() const {
        const X509Owner shown(SSL_get1_peer_certificate(session_.get()), X509_free);
        return shown ? ASN1_INTEGER_get(X509_get0_serialNumber(shown.get())) : 0;
    }
    void send(std::string_view bytes) {
        ERR_clear_error();
        EXPECT_GT(SSL_write(session_.get(), bytes.data(), static_cast<int>(bytes.size())), 0);
    }
    [[nodiscard]] Answer receive() {
        for (;;) {
            if (auto answer = take_answer(received_)) return *std::move(answer);
            if (!fill()) return {};
        }
    }
    [[nodiscard]] Answer ask(std::string_view bytes) {
        send(bytes);
        return receive();
    }
    /// True when the server said that it has sent all.
    [[nodiscard]] bool is_told_of_the_end() {
        while (fill()) {
        }
        return received_.empty() && last_error_ == SSL_ERROR_ZERO_RETURN;
    }
    [[nodiscard]] Client& plain() { return plain_; }
    [[nodiscard]] SSL* session() { return session_.get(); }

private:
    bool fill() {
        std::array<char, 16384> piece;
        ERR_clear_error();
        const int count = SSL_read(session_.get(), piece.data(), static_cast<int>(piece.size()));
        if (count <= 0) {
            last_error_ = SSL_get_error(session_.get(), count);
            return false;
        }
        received_.append(piece.data(), static_cast<std::size_t>(count));
        return true;
    }

    Client plain_;
    std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_;
    std::unique_ptr<SSL, decltype(&SSL_free)> session_{nullptr, SSL_free};
    std::string received_;
    int last_error_ = 0;
    bool connected_ = false;
};

asio::awaitable<void> answer_body(runtime::Call&, const Request& request, Response& response) {
    response.set_body("application/octet-stream", request.body);
    co_return;
}

class Tls : public ServerTest {
protected:
    Tls() {
        files_.make(1);
        options_.tls_certificate = files_.both().certificate;
        options_.tls_key = files_.both().key;
        router_.add_raw({.method = Method::post, .path = "/echo"}, answer_body);
        router_.add_raw({.method = Method::get, .path = "/scheme"},
                        [](runtime::Call&, const Request& request,
                           Response& response) -> asio::awaitable<void> {
                            response.set_body("text/plain", request.secure ? "https" : "http");
                            co_return;
                        });
    }

    Files files_;
};

constexpr std::string_view get_redirect = "GET /abc HTTP/1.1\r\nHost: h\r\n\r\n";

TEST_F(Tls, AnswersWithinTls) {
    start();
    for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
        TlsClient client(port(), {.version_min = version, .version_max = version});
        ASSERT_TRUE(client.is_connected());
        EXPECT_EQ(client.version(), version == TLS1_2_VERSION ? "TLSv1.2" : "TLSv1.3");
        EXPECT_EQ(client.ask(get_redirect).header("Location"), "https://a.example/abc");
        EXPECT_EQ(client.ask("GET /slow HTTP/1.1\r\nHost: h\r\n\r\n").header("Location"),
                  "https://a.example/from-afar");
        EXPECT_EQ(client.ask("GET /scheme HTTP/1.1\r\nHost: h\r\n\r\n").body, "https");
    }
}

TEST_F(Tls, CarriesBodiesLargerThanItsRecordsAndBuffers) {
    start();
    TlsClient client(port());
    std::string large;
    while (large.size() < 900'000) large += std::to_string(large.size());
    const std::string head =
        "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: " + std::to_string(large.size()) +
        "\r\n\r\n";
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(client.ask(head + large).body == large) << i;
}

TEST_F(Tls, AnswersPipelinedRequestsOfBothSortsInOrder) {
    start();
    TlsClient client(port());
    std::string all;
    for (int i = 0; i < 300; ++i) {
        all += i % 3 == 0 ? "GET /slow HTTP/1.1\r\nHost: h\r\n\r\n"
                          : "GET /p" + std::to_string(i) + " HTTP/1.1\r\nHost: h\r\n\r\n";
    }
    client.send(all);
    for (int i = 0; i < 300; ++i) {
        const std::string path = i % 3 == 0 ? "/from-afar" : "/p" + std::to_string(i);
        ASSERT_EQ(client.receive().header("Location"), "https://a.example" + path) << i;
    }
}

TEST_F(Tls, TakesRequestsInAnySlices) {
    start();
    TlsClient client(port());
    for (int turn = 0; turn < 3; ++turn) {
        for (const char c : get_redirect) client.send({&c, 1});
        EXPECT_EQ(client.receive().status, 302);
    }
    // Keys are renewed in the middle of a connection.
    EXPECT_EQ(SSL_key_update(client.session(), SSL_KEY_UPDATE_REQUESTED), 1);
    EXPECT_EQ(client.ask(get_redirect).status, 302);
}

TEST_F(Tls, SpeaksNothingOlderThan12) {
    start();
    const TlsClient old(port(), {.version_min = TLS1_VERSION, .version_max = TLS1_1_VERSION});
    EXPECT_FALSE(old.is_connected());
    EXPECT_TRUE(TlsClient(port()).is_connected());
}

TEST_F(Tls, ChoosesHttp11) {
    start();
    TlsClient both(port(), {.protocols = "\x02h2\x08http/1.1"});
    EXPECT_EQ(both.protocol(), "http/1.1");
    EXPECT_EQ(both.ask(get_redirect).status, 302);
    const TlsClient silent(port());
    EXPECT_EQ(silent.protocol(), "");
    const TlsClient other(port(), {.protocols = "\x02h2"});
    EXPECT_FALSE(other.is_connected());
}

TEST_F(Tls, TellsAPlainClientWhatIsSpokenHere) {
    start();
    for (const std::string_view bytes : {get_redirect, std::string_view("\r\n\r\n"),
                                         std::string_view("\x80\x2e\x01\x03\x01", 5)}) {
        Client plain(port());
        const Answer answer = plain.ask(bytes);
        EXPECT_EQ(answer.status, 400);
        EXPECT_NE(answer.body.find("http.tls_expected"), std::string::npos);
        EXPECT_NE(answer.body.find("https"), std::string::npos);
        EXPECT_EQ(answer.header("Connection"), "close");
        plain.shutdown_send();
        EXPECT_TRUE(plain.is_closed());
    }
}

TEST_F(Tls, SaysGoodbye) {
    start();
    TlsClient client(port());
    const Answer answer = client.ask("GET /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    EXPECT_EQ(answer.header("Connection"), "close");
    EXPECT_TRUE(client.is_told_of_the_end());
    TlsClient refused(port());
    EXPECT_EQ(refused.ask("nonsense\r\n\r\n").status, 400);
    EXPECT_TRUE(refused.is_told_of_the_end());
}

TEST_F(Tls, EndsWhoIsIdleOrHalfDoneInTime) {
    options_.header_timeout = std::chrono::milliseconds(50);
    options_.idle_timeout = std::chrono::milliseconds(50);
    start();
    TlsClient idle(port());
    EXPECT_TRUE(idle.is_told_of_the_end());
    Client silent(port());
    EXPECT_TRUE(silent.is_closed());
    Client half(port());
    half.send(std::string_view("\x16\x03\x01\x02", 4));
    EXPECT_TRUE(half.is_closed());
    TlsClient late(port());
    late.send("GET /");
    EXPECT_EQ(late.receive().status, 408);
}

TEST_F(Tls, EndsWhoSpeaksNonsense) {
    start();
    Client client(port());
    client.send(std::string("\x16\x03\x01\x00\x05garbage-that-is-no-hello", 29));
    EXPECT_NE(client.receive_all().substr(0, 1), "H");
    EXPECT_TRUE(TlsClient(port()).is_connected());
}

TEST_F(Tls, TurnsAwayWithinTls) {
    options_.connections_max = 1;
    start();
    TlsClient first(port());
    EXPECT_EQ(first.ask(get_redirect).status, 302);
    TlsClient second(port());
    EXPECT_EQ(second.receive().status, 503);
    EXPECT_TRUE(second.is_told_of_the_end());
    EXPECT_EQ(first.ask(get_redirect).status, 302);
}

TEST_F(Tls, DoesNotWaitForHandshakesWhenItDrains) {
    options_.header_timeout = std::chrono::minutes(5);
    start();
    Client silent(port());
    TlsClient idle(port());
    EXPECT_EQ(idle.ask(get_redirect).status, 302);
    server_->drain(std::chrono::minutes(4));
    EXPECT_TRUE(idle.is_told_of_the_end());
    EXPECT_TRUE(silent.is_closed());
}

TEST_F(Tls, ShowsAChangedCertificateToNewConnections) {
    options_.header_timeout = std::chrono::milliseconds(200);  // and looks at files as often
    start();
    TlsClient before(port());
    EXPECT_EQ(before.serial(), 1);
    files_.make(2);
    while (TlsClient(port()).serial() != 2) std::this_thread::yield();
    EXPECT_EQ(before.ask(get_redirect).status, 302);
}

TEST(TlsCertificate, StaysWhenTheNewOneCannotBeUsed) {
    const Files files;
    files.make(1);
    Certificate certificate(files.both());
    EXPECT_FALSE(certificate.reload_if_changed());
    // The certificate is there before its key is.
    const Key next = make_key();
    files.write_certificate(make_certificate(next.get(), 2).get());
    EXPECT_FALSE(certificate.reload_if_changed());
    EXPECT_FALSE(certificate.reload_if_changed());
    files.write_key(next.get());
    EXPECT_TRUE(certificate.reload_if_changed());
    EXPECT_FALSE(certificate.reload_if_changed());
    fs::remove(files.path("key.pem"));
    EXPECT_FALSE(certificate.reload_if_changed());
    const auto left = certificate.valid_until() - base::SystemClock().now();
    EXPECT_GT(left, std::chrono::minutes(30));
    EXPECT_LT(left, std::chrono::minutes(61));
}

TEST(TlsCertificate, IsRefusedWithTheReason) {
    const Files files;
    const auto refusal = [&files] {
        try {
            const Certificate certificate(files.both());
        } catch (const std::runtime_error& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_EQ(refusal(), "http.tls_certificate " + files.path("certificate.pem") +
                             " cannot be read: No such file or directory");
    files.make(1);
    EXPECT_EQ(refusal(), "");
    fs::remove(files.path("key.pem"));
    EXPECT_NE(refusal().find("http.tls_key " + files.path("key.pem") + " cannot be read"),
              std::string::npos);
    const Key other = make_key();
    files.write_key(other.get());
    EXPECT_NE(refusal().find("is not the key of"), std::string::npos) << refusal();
    const Key rsa(EVP_RSA_gen(2048), EVP_PKEY_free);
    files.write_key(rsa.get());
    EXPECT_NE(refusal().find("is not the key of"), std::string::npos) << refusal();
    files.write_key(other.get(), "secret");
    EXPECT_NE(refusal().find("without a passphrase"), std::string::npos) << refusal();
    files.write("key.pem", "no PEM\n");
    EXPECT_NE(refusal().find("holds no private key"), std::string::npos) << refusal();
    files.write("certificate.pem", "no PEM\n");
    EXPECT_NE(refusal().find("holds no certificate"), std::string::npos) << refusal();
}

}  // namespace

}  // namespace tenon::http::testing
