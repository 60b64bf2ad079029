// Listening sockets, one per core and address, that share a port.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "http/socket.hpp"

namespace tenon::http {

/// Sockets that listen on one port: [core][address].
struct Listening {
    std::vector<std::vector<Socket>> sockets;
    std::uint16_t port = 0;
};

/// Binds `cores` sockets to every address, all on one port, and listens.
///
/// Shape:  `port` 0 takes any that is free on all addresses. Addresses are textual, IPv4 or IPv6.
///         ::1 is left out where this machine has none and another address is wanted.
/// Errors: throws std::runtime_error which names address, port and, where /proc tells, the process
///         that holds it.
[[nodiscard]] Listening listen_on(const std::vector<std::string>& wanted, std::uint16_t port,
                                  std::size_t cores);

/// "pid 123 (nginx)" of the process that listens on a TCP port; empty when /proc does not tell.
[[nodiscard]] std::string holder_of_port(std::uint16_t port);

}  // namespace tenon::http
