#include "redis/session.hpp"

#include <fmt/format.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/system/system_error.hpp>

#include "redis/address.hpp"
#include "redis/pipeline.hpp"
#include "redis/reader.hpp"
#include "runtime/failure.hpp"
#include "runtime/wait.hpp"

namespace tenon::redis {
namespace asio = boost::asio;
namespace {

using asio::ip::tcp;
using Endpoint = asio::generic::stream_protocol::endpoint;

[[noreturn]] void refuse(const std::string& why) {
    throw runtime::Unavailable(why, std::chrono::seconds(1));
}

asio::awaitable<std::vector<Endpoint>> look_up(asio::io_context& io, const Address& address) {
    if (!address.path.empty()) {
        co_return std::vector<Endpoint>{asio::local::stream_protocol::endpoint(address.path)};
    }
    boost::system::error_code no_number;
    const auto number = asio::ip::make_address(address.host, no_number);
    if (!no_number) co_return std::vector<Endpoint>{tcp::endpoint(number, address.port)};
    tcp::resolver resolver(io);
    const auto found = co_await resolver.async_resolve(address.host, std::to_string(address.port),
                                                       asio::use_awaitable);
    std::vector<Endpoint> endpoints;
    for (const auto& entry : found) endpoints.emplace_back(entry.endpoint());
    co_return endpoints;
}

asio::awaitable<Socket> connect(asio::io_context& io, const std::string& text) {
    const auto address = parse_address(text);
    if (!address) refuse(address.error().detail());
    std::string why = "no address was found";
    for (const Endpoint& endpoint : co_await look_up(io, *address)) {
        Socket socket(io);
        boost::system::error_code error;
        co_await socket.async_connect(endpoint, asio::redirect_error(asio::use_awaitable, error));
        if (error == asio::error::operation_aborted) throw boost::system::system_error(error);
        if (!error) {
            if (address->path.empty()) socket.set_option(tcp::no_delay(true));
            co_return socket;
        }
        why = error.message();
    }
    refuse(why);
}

asio::awaitable<std::vector<Reply>> read_replies(Socket& socket, std::size_t count) {
    Reader reader;
    std::array<char, 1024> bytes{};
    std::vector<Reply> replies;
    while (replies.size() < count) {
        if (auto reply = reader.next()) {
            replies.push_back(std::move(*reply));
            continue;
        }
        if (reader.broken()) refuse(fmt::format("not a Redis server: {}", reader.failure()));
        const std::size_t size =
            co_await socket.async_read_some(asio::buffer(bytes), asio::use_awaitable);
        reader.feed({bytes.data(), size});
    }
    co_return replies;
}

asio::awaitable<void> open_unbounded(asio::io_context& io, Session& session,
                                     const ClientOptions& options, const std::string& name) {
    session.socket = co_await connect(io, options.address);
    const auto commands = greeting(options, name);
    std::string out;
    for (const auto& command : commands) append_command(out, command);
    co_await asio::async_write(session.socket, asio::buffer(out), asio::use_awaitable);
    session.client_id = read_greeting(co_await read_replies(session.socket, commands.size()));
}

}  // namespace

std::vector<std::vector<std::string>> greeting(const ClientOptions& options,
                                               const std::string& name) {
    std::vector<std::vector<std::string>> commands{
        {"CLIENT", "SETNAME", name}, {"CLIENT", "ID"}, {"PING"}};
    if (options.password.empty()) return commands;
    std::vector<std::string> auth{"AUTH"};
    if (!options.username.empty()) auth.push_back(options.username);
    auth.push_back(options.password);
    commands.insert(commands.begin(), std::move(auth));
    return commands;
}

// An account may lack the right to CLIENT; without AUTH or PING the connection is of no use.
std::int64_t read_greeting(const std::vector<Reply>& replies) {
    const Reply& ping = replies.back();
    const Reply& id = replies[replies.size() - 2];
    const bool authenticates = replies.size() > 3;
    if (authenticates && replies.front().type == Reply::Type::error) refuse(replies.front().text);
    if (ping.type == Reply::Type::error) refuse(ping.text);
    return id.type == Reply::Type::integer ? id.integer : 0;
}

asio::awaitable<Session> open_session(asio::io_context& io, const ClientOptions& options,
                                      std::string name) {
    const auto deadline = std::chrono::steady_clock::now() + options.connect_timeout;
    Session session{.socket = Socket(io), .client_id = 0};
    std::string why;
    try {
        co_await runtime::until(deadline, open_unbounded(io, session, options, name));
        co_return session;
    } catch (const boost::system::system_error& error) {
        if (error.code() == asio::error::operation_aborted) throw;
        why = error.code().message();
    }
    refuse(why);
}

}  // namespace tenon::redis
