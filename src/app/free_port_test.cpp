#include "app/free_port.hpp"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

namespace tenon::app {
namespace {

using boost::asio::ip::tcp;

const std::vector<std::string> loopback{"127.0.0.1"};

/// Listens on a port of 127.0.0.1; nobody else gets it meanwhile.
class Held {
public:
    explicit Held(std::uint16_t port) : acceptor_(io_, tcp::v4()) {
        boost::system::error_code error;
        acceptor_.bind({boost::asio::ip::make_address("127.0.0.1"), port}, error);
        if (!error) acceptor_.listen();
    }
    std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

private:
    boost::asio::io_context io_;
    tcp::acceptor acceptor_;
};

TEST(FreePort, IsTheNextOneWhenOneIsBusy) {
    const Held held(0);
    const auto found = find_free_port(loopback, held.port());
    EXPECT_NE(found, held.port());
    if (found != 0) EXPECT_GT(found, held.port());
    const auto both = find_free_port({"::1", "127.0.0.1"}, held.port());
    EXPECT_NE(both, held.port());  // busy on one is not free
}

TEST(FreePort, CanBeListenedOnAtOnce) {
    const auto found = find_free_port(loopback, 20'000);
    ASSERT_NE(found, 0);
    const Held held(found);
    EXPECT_EQ(held.port(), found);
    EXPECT_NE(find_free_port(loopback, found), found);
}

TEST(FreePort, IsLeftToTheKernelPastTheLast) {
    const Held last(65'535);  // by us or by whoever has it already
    EXPECT_EQ(find_free_port(loopback, 65'535), 0);
}

TEST(FreePort, DoesNotFailWhereAnAddressFamilyIsMissing) {
    EXPECT_NE(find_free_port({"::1"}, 20'000), 0);
}

}  // namespace
}  // namespace tenon::app
