// TLS on sockets that do not block, and the certificate that is shown there.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>

struct ssl_st;
struct ssl_ctx_st;

namespace tenon::http {

/// What came of moving bytes.
enum class Flow : std::uint8_t {
    moved,       ///< some, or all of a handshake
    unreadable,  ///< nothing until the socket can be read again
    unwritable,  ///< nothing until the socket can be written again
    ended,       ///< nothing ever again
    not_tls,     ///< of a handshake: what came is not TLS
};

/// How a transfer went.
struct Transfer {
    Flow flow = Flow::ended;
    std::size_t bytes = 0;
    bool more = false;  ///< of a receipt: there may be more without another event
};

/// TLS on one socket, the server's side.
///
/// Owns:    its keys and buffers; the socket is somebody else's and outlives it.
/// Threads: one core's.
/// Cost:    one system call per record; buffers of 32 KiB only while something is in them.
class TlsSession {
public:
    TlsSession(ssl_ctx_st* context, int descriptor);
    ~TlsSession();
    TlsSession(const TlsSession&) = delete;
    TlsSession& operator=(const TlsSession&) = delete;

    [[nodiscard]] bool has_begun() const { return begun_; }
    /// moved when both sides have agreed.
    [[nodiscard]] Flow shake_hands();
    [[nodiscard]] Transfer receive(std::span<char> room);
    [[nodiscard]] Transfer send(std::string_view bytes);
    void say_goodbye();

    /// What OpenSSL asks for, on the socket.
    [[nodiscard]] std::int64_t receive_raw(char* to, std::size_t size);
    [[nodiscard]] std::int64_t send_raw(const char* from, std::size_t size) const;

private:
    struct Free {
        void operator()(ssl_st* session) const;
    };
    [[nodiscard]] Flow flow_of(int result);

    std::unique_ptr<ssl_st, Free> session_;
    int descriptor_;
    bool begun_ = false;
    bool emptied_ = false;  // in this receipt, by a read that got less than it asked for
    bool over_ = false;     // said goodbye, or failed
};

/// Where a certificate is read from.
struct CertificateFiles {
    std::string certificate;  ///< PEM: the server's certificate, then those that vouch for it
    std::string key;          ///< PEM, without a passphrase
};

/// The certificate of a server, read anew when its files change.
///
/// Shape:   TLS 1.2 and 1.3, http/1.1 by ALPN, no renegotiation. Sessions go on with the
///          certificate that they began with.
/// Threads: any.
class Certificate {
public:
    /// Errors: throws std::runtime_error with a sentence that names the file.
    explicit Certificate(CertificateFiles files);
    ~Certificate();
    Certificate(const Certificate&) = delete;
    Certificate& operator=(const Certificate&) = delete;

    [[nodiscard]] std::unique_ptr<TlsSession> open(int descriptor) const;
    /// Looks at the files; true when they have changed and what they hold now is shown from here
    /// on. What cannot be used is said in one log line, and the certificate in force stays.
    ///
    /// Cost: two system calls; reads files when they have changed.
    bool reload_if_changed();
    [[nodiscard]] std::chrono::sys_seconds valid_until() const;

private:
    struct Free {
        void operator()(ssl_ctx_st* context) const;
    };
    using Context = std::unique_ptr<ssl_ctx_st, Free>;
    [[nodiscard]] Context load() const;
    /// Changes whenever one of the files does.
    [[nodiscard]] std::string look() const;

    const CertificateFiles files_;
    std::string seen_;  // only the one that reloads looks at it
    mutable std::mutex guard_;
    Context context_;
};

}  // namespace tenon::http
