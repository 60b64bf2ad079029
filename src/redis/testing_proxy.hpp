// Stands between a client and the server of the tests, and misbehaves on demand.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/core.hpp"
#include "runtime/task_group.hpp"
#include "runtime/wait.hpp"

namespace tenon::redis::testing {

/// A proxy of Unix sockets for the tests of this room; nobody else's connections are touched.
///
/// Threads: its core only. close() before it is destroyed.
class Proxy {
public:
    Proxy(runtime::Core& core, std::string_view target)
        : target_(std::string(target.substr(target.find('/')))),
          path_("/tmp/tenon-proxy-" + std::to_string(::getpid()) + ".sock"),
          io_(core.io()),
          acceptor_(core.io()),
          open_(core.io()),
          tasks_(core.io()) {
        ::unlink(path_.c_str());
        acceptor_.open();
        acceptor_.bind(path_);
        acceptor_.listen();
        open_.set();
        tasks_.spawn("proxy", accept());
    }

    [[nodiscard]] std::string address() const { return "unix:" + path_; }
    /// Keeps back what the server says, until release().
    void hold() { open_.reset(); }
    void release() { open_.set(); }
    /// Ends every connection.
    void cut() {
        for (const auto& pair : pairs_) pair->close();
        pairs_.clear();
    }
    /// How often `word` was said to the server.
    [[nodiscard]] std::size_t said(std::string_view word) const {
        std::size_t count = 0;
        for (auto at = said_.find(word); at != std::string::npos; at = said_.find(word, at + 1)) {
            ++count;
        }
        return count;
    }
    [[nodiscard]] std::size_t connections() const { return connections_; }
    boost::asio::awaitable<void> close() {
        tasks_.cancel();
        co_await tasks_.join();
        cut();
        acceptor_.close();
        ::unlink(path_.c_str());
    }

private:
    using Protocol = boost::asio::local::stream_protocol;
    struct Pair {
        explicit Pair(boost::asio::io_context& io) : client(io), server(io) {}
        void close() {
            client.close();
            server.close();
        }
        Protocol::socket client;
        Protocol::socket server;
    };

    boost::asio::awaitable<void> accept() {
        for (;;) {
            const auto pair = std::make_shared<Pair>(io_);
            co_await acceptor_.async_accept(pair->client, boost::asio::use_awaitable);
            co_await pair->server.async_connect(target_, boost::asio::use_awaitable);
            ++connections_;
            pairs_.push_back(pair);
            tasks_.spawn("proxy to server", to_server(pair));
            tasks_.spawn("proxy to client", to_client(pair));
        }
    }

    boost::asio::awaitable<void> to_server(std::shared_ptr<Pair> pair) {
        std::array<char, 4096> bytes;
        boost::system::error_code error;
        while (!error) {
            const std::size_t size = co_await read(pair->client, bytes, error);
            said_.append(bytes.data(), size);
            if (!error) co_await write(pair->server, {bytes.data(), size}, error);
        }
        pair->close();
    }

    boost::asio::awaitable<void> to_client(std::shared_ptr<Pair> pair) {
        std::array<char, 4096> bytes;
        boost::system::error_code error;
        while (!error) {
            const std::size_t size = co_await read(pair->server, bytes, error);
            co_await open_.wait();
            if (!error) co_await write(pair->client, {bytes.data(), size}, error);
        }
        pair->close();
    }

    static boost::asio::awaitable<std::size_t> read(Protocol::socket& from,
                                                    std::array<char, 4096>& bytes,
                                                    boost::system::error_code& error) {
        co_return co_await from.async_read_some(
            boost::asio::buffer(bytes),
            boost::asio::redirect_error(boost::asio::use_awaitable, error));
    }
    static boost::asio::awaitable<void> write(Protocol::socket& to, std::string_view bytes,
                                              boost::system::error_code& error) {
        co_await boost::asio::async_write(
            to, boost::asio::buffer(bytes),
            boost::asio::redirect_error(boost::asio::use_awaitable, error));
    }

    Protocol::endpoint target_;
    std::string path_;
    boost::asio::io_context& io_;
    Protocol::acceptor acceptor_;
    runtime::Event open_;
    std::string said_;
    std::size_t connections_ = 0;
    std::vector<std::shared_ptr<Pair>> pairs_;
    runtime::TaskGroup tasks_;
};

}  // namespace tenon::redis::testing
