// Stands between a client and an engine of the tests, and misbehaves as it is told.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/socket_base.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "runtime/core.hpp"
#include "runtime/task_group.hpp"
#include "runtime/wait.hpp"

namespace tenon::runtime {

/// What happens to the bytes of one direction. Positions count the bytes since the faults were set:
/// for those of a new connection, its first byte is number 0.
struct Faults {
    std::chrono::milliseconds delay{0};  ///< before every piece
    std::size_t slice_max = 0;           ///< pieces of 1 to so many bytes; 0: as they came
    std::optional<std::size_t> cut_at =
        std::nullopt;  ///< byte that is no longer passed: both sides close
    std::optional<std::size_t> corrupt_at = std::nullopt;  ///< byte that is changed
    std::uint8_t flip = 0xFF;                              ///< the bits that change in it
    std::optional<std::size_t> stall_at = std::nullopt;  ///< byte that is kept back until release()
};

/// The faults of both directions.
struct FaultPlan {
    Faults to_server{};
    Faults to_client{};
};

/// A proxy for streams, over TCP or Unix sockets on either side.
///
/// Shape:   what it does to bytes depends on its seed and their number alone, not on how the
///          sockets divided them.
/// Owns:    its listening socket and all connections through it; nobody else's are touched.
/// Expects: close() was awaited before it is destroyed.
/// Threads: its core only.
class Proxy {
public:
    using Endpoint = boost::asio::generic::stream_protocol::endpoint;

    /// Where a Unix socket lies.
    static Endpoint at_path(const std::string& path) {
        return Endpoint(boost::asio::local::stream_protocol::endpoint(path));
    }
    /// A port of this machine; 0: any free one.
    static Endpoint at_port(std::uint16_t port) {
        const auto address = boost::asio::ip::make_address("127.0.0.1");
        return Endpoint(boost::asio::ip::tcp::endpoint(address, port));
    }

    Proxy(Core& core, Endpoint target, const Endpoint& listen, std::uint64_t seed = 1)
        : io_(core.io()),
          target_(std::move(target)),
          random_(seed),
          acceptor_(core.io(), listen.protocol()),
          open_(core.io()),
          tasks_(core.io()) {
        acceptor_.bind(listen);
        acceptor_.listen(boost::asio::socket_base::max_listen_connections);
        open_.set();
        tasks_.spawn("proxy", accept());
    }

    /// The port that it listens on. Expects: at_port().
    [[nodiscard]] std::uint16_t port() const {
        boost::asio::ip::tcp::endpoint bound;
        const auto local = acceptor_.local_endpoint();
        std::copy_n(static_cast<const char*>(static_cast<const void*>(local.data())), local.size(),
                    static_cast<char*>(static_cast<void*>(bound.data())));
        return bound.port();
    }

    /// For the connections that live, from their next byte on.
    void afflict(const FaultPlan& plan) {
        for (const auto& pair : pairs_) pair->take(plan);
    }
    /// For the next connection that comes and has no plan yet; those without one are left alone.
    void plan_next(const FaultPlan& plan) { plans_.push_back(plan); }
    /// Keeps back what the server says, on all connections, until release().
    void hold() {
        open_.reset();
        held_ = true;
    }
    /// Lets all pass that was held or stalled.
    void release() {
        held_ = false;
        for (const auto& pair : pairs_) {
            for (Lane& lane : pair->lanes) lane.faults.stall_at.reset();
        }
        open_.set();
    }
    /// Ends every connection.
    void cut() {
        for (const auto& pair : pairs_) pair->close();
        pairs_.clear();
    }
    /// Refuses new connections: the listening socket is there and nobody answers.
    void stop_answering() { answering_ = false; }

    /// How often `word` was said to the server.
    [[nodiscard]] std::size_t said(std::string_view word) const {
        std::size_t count = 0;
        for (auto at = said_.find(word); at != std::string::npos; at = said_.find(word, at + 1)) {
            ++count;
        }
        return count;
    }
    /// Bytes that the server said and that were passed on.
    [[nodiscard]] std::size_t heard_bytes() const { return heard_bytes_; }
    [[nodiscard]] std::size_t said_bytes() const { return said_.size(); }
    [[nodiscard]] std::size_t connections() const { return connections_; }
    /// True while bytes wait behind a stall or hold().
    [[nodiscard]] bool is_stalling() const { return stalling_ > 0; }
    boost::asio::awaitable<void> close() {
        tasks_.cancel();
        co_await tasks_.join();
        cut();
        acceptor_.close();
    }

private:
    using Protocol = boost::asio::generic::stream_protocol;
    using Socket = Protocol::socket;
    enum Way : std::size_t { to_server, to_client };

    struct Lane {
        Faults faults{};
        std::size_t passed = 0;
    };
    struct Pair {
        explicit Pair(boost::asio::io_context& io) : client(io), server(io) {}
        void take(const FaultPlan& plan) {
            lanes = {Lane{.faults = plan.to_server}, Lane{.faults = plan.to_client}};
        }
        void close() {
            boost::system::error_code ignored;  // closed enough
            client.close(ignored);
            server.close(ignored);
        }
        Socket client;
        Socket server;
        std::array<Lane, 2> lanes;
    };

    boost::asio::awaitable<void> accept() {
        for (;;) {
            const auto pair = std::make_shared<Pair>(io_);
            co_await acceptor_.async_accept(pair->client, boost::asio::use_awaitable);
            boost::system::error_code not_tcp;
            pair->client.set_option(boost::asio::ip::tcp::no_delay(true), not_tcp);
            ++connections_;
            if (!answering_) {
                mute_.push_back(pair);
                continue;
            }
            boost::system::error_code away;
            co_await pair->server.async_connect(
                target_, boost::asio::redirect_error(boost::asio::use_awaitable, away));
            if (away) continue;  // the client sees its connection end
            if (!plans_.empty()) {
                pair->take(plans_.front());
                plans_.pop_front();
            }
            std::erase_if(pairs_, [](const auto& old) { return !old->client.is_open(); });
            pairs_.push_back(pair);
            tasks_.spawn("proxy to server", pump(pair, to_server));
            tasks_.spawn("proxy to client", pump(pair, to_client));
        }
    }

    boost::asio::awaitable<void> pump(std::shared_ptr<Pair> pair, Way way) {
        std::vector<char> bytes(64 << 10);
        Socket& from = way == to_server ? pair->client : pair->server;
        boost::system::error_code error;
        while (!error) {
            const std::size_t size = co_await from.async_read_some(
                boost::asio::buffer(bytes),
                boost::asio::redirect_error(boost::asio::use_awaitable, error));
            if (way == to_server) said_.append(bytes.data(), size);
            if (!error) co_await pass(*pair, way, std::span(bytes).first(size), error);
        }
        pair->close();
    }

    boost::asio::awaitable<void> pass(Pair& pair, Way way, std::span<char> bytes,
                                      boost::system::error_code& error) {
        Socket& to = way == to_server ? pair.server : pair.client;
        while (!bytes.empty() && !error) {
            co_await wait_open(pair.lanes[way], way);
            const Faults faults = pair.lanes[way].faults;
            if (faults.delay.count() > 0) co_await pause_for(faults.delay);
            const std::span<char> piece = cut_piece(pair.lanes[way], bytes);
            if (piece.empty()) {
                error = boost::asio::error::connection_reset;
                break;
            }
            co_await boost::asio::async_write(
                to, boost::asio::buffer(piece.data(), piece.size()),
                boost::asio::redirect_error(boost::asio::use_awaitable, error));
            if (way == to_client) heard_bytes_ += piece.size();
            bytes = bytes.subspan(piece.size());
        }
    }

    boost::asio::awaitable<void> wait_open(const Lane& lane, Way way) {
        const auto stalled = [&] { return lane.faults.stall_at == lane.passed; };
        while ((held_ && way == to_client) || stalled()) {
            open_.reset();
            ++stalling_;
            co_await open_.wait();
            --stalling_;
        }
    }

    /// The first bytes that pass now, corrupted if it is their turn; none at the cut.
    std::span<char> cut_piece(Lane& lane, std::span<char> bytes) {
        const Faults& faults = lane.faults;
        std::size_t size = bytes.size();
        if (faults.slice_max > 0) size = std::min(size, 1 + random_.below(faults.slice_max));
        if (faults.cut_at) size = std::min(size, *faults.cut_at - lane.passed);
        if (faults.stall_at && *faults.stall_at > lane.passed) {
            size = std::min(size, *faults.stall_at - lane.passed);
        }
        if (faults.corrupt_at && *faults.corrupt_at >= lane.passed &&
            *faults.corrupt_at < lane.passed + size) {
            char& byte = bytes[*faults.corrupt_at - lane.passed];
            byte = static_cast<char>(static_cast<std::uint8_t>(byte) ^ faults.flip);
        }
        lane.passed += size;
        return bytes.first(size);
    }

    boost::asio::io_context& io_;
    const Endpoint target_;
    base::SeededRandom random_;
    boost::asio::basic_socket_acceptor<Protocol> acceptor_;
    std::deque<FaultPlan> plans_;
    Event open_;
    bool held_ = false;
    bool answering_ = true;
    std::size_t stalling_ = 0;
    std::string said_;
    std::size_t heard_bytes_ = 0;
    std::size_t connections_ = 0;
    std::vector<std::shared_ptr<Pair>> pairs_;
    std::vector<std::shared_ptr<Pair>> mute_;  ///< connections that nobody answers
    TaskGroup tasks_;
};

}  // namespace tenon::runtime
