#include "http/listener.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>

namespace tenon::http {

namespace {

constexpr int backlog = 4096;
constexpr int attempts_at_a_common_port = 20;

struct Address {
    sockaddr_storage bytes{};
    socklen_t length = 0;

    [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&bytes); }
};

Address make_address(const std::string& text, std::uint16_t port) {
    Address address;
    auto* const v4 = reinterpret_cast<sockaddr_in*>(&address.bytes);
    auto* const v6 = reinterpret_cast<sockaddr_in6*>(&address.bytes);
    if (::inet_pton(AF_INET, text.c_str(), &v4->sin_addr) == 1) {
        v4->sin_family = AF_INET;
        v4->sin_port = htons(port);
        address.length = sizeof(sockaddr_in);
    } else if (::inet_pton(AF_INET6, text.c_str(), &v6->sin6_addr) == 1) {
        v6->sin6_family = AF_INET6;
        v6->sin6_port = htons(port);
        address.length = sizeof(sockaddr_in6);
    } else {
        throw std::runtime_error(fmt::format("{} is not an IP address to listen on", text));
    }
    return address;
}

void set_option(const Socket& socket, int level, int option) {
    const int on = 1;
    ::setsockopt(socket.get(), level, option, &on, sizeof on);
}

// 0, or the errno of what failed.
int try_bind(const Address& address, bool shared, Socket& socket) {
    const int family = address.bytes.ss_family;
    socket = Socket(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!socket.is_open()) return errno;
    set_option(socket, SOL_SOCKET, SO_REUSEADDR);
    if (shared) set_option(socket, SOL_SOCKET, SO_REUSEPORT);
    if (family == AF_INET6) set_option(socket, IPPROTO_IPV6, IPV6_V6ONLY);
    // Accepted sockets inherit it.
    set_option(socket, IPPROTO_TCP, TCP_NODELAY);
    return ::bind(socket.get(), address.get(), address.length) == 0 ? 0 : errno;
}

std::uint16_t port_of(const Socket& socket) {
    Address address;
    address.length = sizeof address.bytes;
    auto* const bytes = reinterpret_cast<sockaddr*>(&address.bytes);
    ::getsockname(socket.get(), bytes, &address.length);
    // The port lies at the same place in both families.
    return ntohs(reinterpret_cast<const sockaddr_in*>(&address.bytes)->sin_port);
}

[[noreturn]] void fail_to_listen(const std::string& address, std::uint16_t port, int error) {
    if (error == EADDRINUSE) {
        const std::string holder = holder_of_port(port);
        throw std::runtime_error(fmt::format("port {} on {} is in use{}; choose another port", port,
                                             address, holder.empty() ? "" : " by " + holder));
    }
    throw std::runtime_error(fmt::format("cannot listen on {} port {}: {}", address, port,
                                         std::generic_category().message(error)));
}

// Sharing a port would silently succeed beside another server of the same user that shares too:
// an unshared attempt shows whether anybody is there.
int probe(const std::string& address, std::uint16_t& port) {
    Socket socket;
    const int error = try_bind(make_address(address, port), false, socket);
    if (error != 0) return error;
    if (::listen(socket.get(), 1) != 0) return errno;
    if (port == 0) port = port_of(socket);
    return 0;
}

bool is_loopback6(const std::string& address) {
    return address == "::1";
}

// Machines without IPv6, as many containers are, have no ::1. Whoever can reach such a machine at
// all comes by the other addresses; any other address that is missing is a mistake.
std::vector<std::string> without_missing_loopback(std::vector<std::string> addresses) {
    if (std::ranges::all_of(addresses, is_loopback6)) return addresses;
    std::uint16_t any = 0;
    const int error = probe("::1", any);
    if (error == EADDRNOTAVAIL || error == EAFNOSUPPORT) std::erase_if(addresses, is_loopback6);
    return addresses;
}

// A port that is free on all addresses; the first refusal of a given port is an error.
std::uint16_t choose_port(const std::vector<std::string>& addresses, std::uint16_t wanted) {
    for (int attempt = 0; attempt < attempts_at_a_common_port; ++attempt) {
        std::uint16_t port = wanted;
        bool is_free = true;
        for (const std::string& address : addresses) {
            const int error = probe(address, port);
            if (error == 0) continue;
            if (wanted != 0 || error != EADDRINUSE) fail_to_listen(address, port, error);
            is_free = false;
            break;
        }
        if (is_free) return port;
    }
    throw std::runtime_error("no port is free on all addresses");
}

}  // namespace

Listening listen_on(const std::vector<std::string>& wanted, std::uint16_t port, std::size_t cores) {
    const auto addresses = without_missing_loopback(wanted);
    Listening listening;
    listening.port = choose_port(addresses, port);
    listening.sockets.resize(cores);
    for (const std::string& text : addresses) {
        const Address address = make_address(text, listening.port);
        for (auto& of_core : listening.sockets) {
            Socket socket;
            int error = try_bind(address, true, socket);
            if (error == 0 && ::listen(socket.get(), backlog) != 0) error = errno;
            if (error != 0) fail_to_listen(text, listening.port, error);
            of_core.push_back(std::move(socket));
        }
    }
    return listening;
}

}  // namespace tenon::http
