#include "app/free_port.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "app/data_folder.hpp"
#include "http/listener.hpp"

namespace tenon::app {

namespace {

using boost::asio::ip::tcp;

bool is_free(const std::string& address, std::uint16_t port) {
    boost::asio::io_context io;
    tcp::acceptor acceptor(io);
    boost::system::error_code error;
    const tcp::endpoint endpoint(boost::asio::ip::make_address(address, error), port);
    acceptor.open(endpoint.protocol(), error);
    if (error) return true;  // no such address family here: nobody can hold the port
    acceptor.set_option(tcp::acceptor::reuse_address(true), error);
    acceptor.bind(endpoint, error);
    return error != boost::asio::error::address_in_use;
}

}  // namespace

void check_port(const std::vector<std::string>& addresses, std::uint16_t port) {
    for (const auto& address : addresses) {
        if (port == 0 || is_free(address, port)) continue;
        const auto holder = http::holder_of_port(port);
        throw CommandError(
            fmt::format("port {} is busy on {}{}; leave --port out for the next free one", port,
                        address, holder.empty() ? "" : ": it is held by " + holder));
    }
}

std::uint16_t find_free_port(const std::vector<std::string>& addresses, std::uint16_t first) {
    constexpr int tries = 100;
    for (int port = first; port < first + tries && port <= 65'535; ++port) {
        const bool free = std::ranges::all_of(addresses, [port](const std::string& address) {
            return is_free(address, static_cast<std::uint16_t>(port));
        });
        if (free) return static_cast<std::uint16_t>(port);
    }
    return 0;
}

}  // namespace tenon::app
