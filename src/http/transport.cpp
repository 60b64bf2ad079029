#include "http/transport.hpp"

namespace tenon::http {

Flow Transport::shake_hands() {
    if (!session_->has_begun()) {
        // RFC 8446, section 5.1: TLS begins with a record of type handshake.
        constexpr unsigned char handshake_record = 22;
        unsigned char first = 0;
        ssize_t count = 0;
        do {
            count = ::recv(socket_.get(), &first, 1, MSG_PEEK);
        } while (count < 0 && errno == EINTR);
        if (count <= 0) return stopped(count, Flow::unreadable).flow;
        if (first != handshake_record) {
            session_.reset();
            handshaking_ = false;
            return Flow::not_tls;
        }
    }
    const Flow flow = session_->shake_hands();
    if (flow == Flow::moved) handshaking_ = false;
    return flow;
}

}  // namespace tenon::http
