#include "http/tls.hpp"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cerrno>
#include <ctime>
#include <fstream>
#include <iterator>
#include <new>
#include <stdexcept>
#include <system_error>

#include "runtime/log.hpp"

namespace tenon::http {

namespace {

// OpenSSL's own BIO for sockets raises SIGPIPE, and does not tell of short reads.
int read_socket(BIO* bio, char* to, std::size_t size, std::size_t* count) {
    BIO_clear_retry_flags(bio);
    const auto got = static_cast<TlsSession*>(BIO_get_data(bio))->receive_raw(to, size);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) BIO_set_retry_read(bio);
    *count = got > 0 ? static_cast<std::size_t>(got) : 0;
    return got > 0 ? 1 : 0;
}

int write_socket(BIO* bio, const char* from, std::size_t size, std::size_t* count) {
    BIO_clear_retry_flags(bio);
    const auto sent = static_cast<TlsSession*>(BIO_get_data(bio))->send_raw(from, size);
    if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) BIO_set_retry_write(bio);
    *count = sent > 0 ? static_cast<std::size_t>(sent) : 0;
    return sent > 0 ? 1 : 0;
}

long control_socket(BIO*, int command, long, void*) {
    return command == BIO_CTRL_FLUSH ? 1 : 0;
}

const BIO_METHOD* socket_method() {
    static const BIO_METHOD* const method = [] {
        BIO_METHOD* const made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket");
        if (made == nullptr) throw std::bad_alloc();
        BIO_meth_set_read_ex(made, read_socket);
        BIO_meth_set_write_ex(made, write_socket);
        BIO_meth_set_ctrl(made, control_socket);
        return made;
    }();
    return method;
}

// RFC 7301: who offers protocols, and not ours, is told so by an alert.
int select_protocol(SSL*, const unsigned char** chosen, unsigned char* chosen_size,
                    const unsigned char* offered, unsigned int offered_size, void*) {
    static constexpr unsigned char ours[] = "\x08http/1.1";
    unsigned char* selected = nullptr;
    const int result =
        SSL_select_next_proto(&selected, chosen_size, ours, sizeof ours - 1, offered, offered_size);
    *chosen = selected;
    return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

// Nobody is asked for a passphrase.
int no_passphrase(char*, int, int, void*) {
    return -1;
}

[[noreturn]] void refuse(const std::string& sentence) {
    ERR_clear_error();
    throw std::runtime_error(sentence);
}

void check_readable(std::string_view option, const std::string& path) {
    const std::ifstream file(path);
    if (file) return;
    refuse(fmt::format("{} {} cannot be read: {}", option, path,
                       std::generic_category().message(errno)));
}

// Mozilla's intermediate suites for TLS 1.2, less those without forward secrecy or authentication
// of data; TLS 1.3 has no others.
constexpr const char* suites = "ECDHE+AESGCM:ECDHE+CHACHA20";

void set_rules(SSL_CTX* context) {
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_cipher_list(context, suites);
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                  SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_read_ahead(context, 1);
    // Sessions are resumed by tickets, which cost the server no memory.
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_num_tickets(context, 1);
    SSL_CTX_set_alpn_select_cb(context, select_protocol, nullptr);
    SSL_CTX_set_default_passwd_cb(context, no_passphrase);
}

}  // namespace

void TlsSession::Free::operator()(ssl_st* session) const {
    SSL_free(session);
}

TlsSession::TlsSession(ssl_ctx_st* context, int descriptor)
    : session_(SSL_new(context)), descriptor_(descriptor) {
    BIO* const bio = BIO_new(socket_method());
    if (!session_ || bio == nullptr) throw std::bad_alloc();
    BIO_set_data(bio, this);
    BIO_set_init(bio, 1);
    SSL_set_bio(session_.get(), bio, bio);
    SSL_set_accept_state(session_.get());
}

TlsSession::~TlsSession() = default;

std::int64_t TlsSession::receive_raw(char* to, std::size_t size) {
    ssize_t count = 0;
    do {
        count = ::recv(descriptor_, to, size, 0);
    } while (count < 0 && errno == EINTR);
    emptied_ = count < 0 || static_cast<std::size_t>(count) < size;
    return count;
}

std::int64_t TlsSession::send_raw(const char* from, std::size_t size) const {
    ssize_t count = 0;
    do {
        count = ::send(descriptor_, from, size, MSG_NOSIGNAL);
    } while (count < 0 && errno == EINTR);
    return count;
}

Flow TlsSession::flow_of(int result) {
    switch (SSL_get_error(session_.get(), result)) {
        case SSL_ERROR_WANT_READ:
            return Flow::unreadable;
        case SSL_ERROR_WANT_WRITE:
            return Flow::unwritable;
        case SSL_ERROR_ZERO_RETURN:
            return Flow::ended;
        default:
            // After a failure OpenSSL wants to be left alone (SSL_shutdown(3)).
            over_ = true;
            ERR_clear_error();
            return Flow::ended;
    }
}

// Other users of OpenSSL on this thread may have left errors, which SSL_get_error would take for
// this session's.
Flow TlsSession::shake_hands() {
    begun_ = true;
    ERR_clear_error();
    const int result = SSL_do_handshake(session_.get());
    return result == 1 ? Flow::moved : flow_of(result);
}

Transfer TlsSession::receive(std::span<char> room) {
    std::size_t count = 0;
    emptied_ = false;
    ERR_clear_error();
    const int result = SSL_read_ex(session_.get(), room.data(), room.size(), &count);
    if (result != 1) return {.flow = flow_of(result), .bytes = 0, .more = false};
    const bool more = !emptied_ || SSL_has_pending(session_.get()) == 1;
    return {.flow = Flow::moved, .bytes = count, .more = more};
}

Transfer TlsSession::send(std::string_view bytes) {
    std::size_t count = 0;
    ERR_clear_error();
    const int result = SSL_write_ex(session_.get(), bytes.data(), bytes.size(), &count);
    if (result == 1) return {.flow = Flow::moved, .bytes = count, .more = false};
    return {.flow = flow_of(result), .bytes = 0, .more = false};
}

void TlsSession::say_goodbye() {
    if (over_) return;
    over_ = true;
    ERR_clear_error();
    if (SSL_shutdown(session_.get()) < 0) ERR_clear_error();
}

void Certificate::Free::operator()(ssl_ctx_st* context) const {
    SSL_CTX_free(context);
}

Certificate::Certificate(CertificateFiles files)
    : files_(std::move(files)), seen_(look()), context_(load()) {}

Certificate::~Certificate() = default;

Certificate::Context Certificate::load() const {
    check_readable("http.tls_certificate", files_.certificate);
    check_readable("http.tls_key", files_.key);
    Context context(SSL_CTX_new(TLS_server_method()));
    if (!context) throw std::bad_alloc();
    set_rules(context.get());
    if (SSL_CTX_use_certificate_chain_file(context.get(), files_.certificate.c_str()) != 1) {
        refuse(fmt::format("http.tls_certificate {} holds no certificate in PEM that can be used",
                           files_.certificate));
    }
    const bool taken =
        SSL_CTX_use_PrivateKey_file(context.get(), files_.key.c_str(), SSL_FILETYPE_PEM) == 1;
    if (!taken && ERR_GET_REASON(ERR_peek_last_error()) != X509_R_KEY_VALUES_MISMATCH) {
        refuse(fmt::format("http.tls_key {} holds no private key in PEM without a passphrase",
                           files_.key));
    }
    if (!taken || SSL_CTX_check_private_key(context.get()) != 1) {
        refuse(fmt::format("http.tls_key {} is not the key of http.tls_certificate {}", files_.key,
                           files_.certificate));
    }
    return context;
}

std::string Certificate::look() const {
    std::string seen;
    for (const std::string* path : {&files_.certificate, &files_.key}) {
        struct stat found{};
        if (::stat(path->c_str(), &found) != 0) found = {};
        fmt::format_to(std::back_inserter(seen), "{} {} {} {}.{};", found.st_dev, found.st_ino,
                       found.st_size, found.st_mtim.tv_sec, found.st_mtim.tv_nsec);
    }
    return seen;
}

bool Certificate::reload_if_changed() {
    std::string seen = look();
    if (seen == seen_) return false;
    // Also when it cannot be used: said once, and looked at again when it changes again.
    seen_ = std::move(seen);
    Context loaded;
    try {
        loaded = load();
    } catch (const std::runtime_error& refused) {
        runtime::log(runtime::Level::warning,
                     "A changed certificate cannot be used; the one in force stays.",
                     {{"reason", refused.what()}});
        return false;
    }
    {
        const std::lock_guard lock(guard_);
        context_.swap(loaded);
    }
    runtime::log(runtime::Level::info, "A new certificate is in use.",
                 {{"file", files_.certificate}});
    return true;
}

std::unique_ptr<TlsSession> Certificate::open(int descriptor) const {
    const std::lock_guard lock(guard_);
    return std::make_unique<TlsSession>(context_.get(), descriptor);
}

std::chrono::sys_seconds Certificate::valid_until() const {
    const std::lock_guard lock(guard_);
    const X509* const certificate = SSL_CTX_get0_certificate(context_.get());
    std::tm end{};
    if (ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &end) != 1) return {};
    return std::chrono::sys_seconds(std::chrono::seconds(::timegm(&end)));
}

}  // namespace tenon::http
