#include "http/address.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "http/errors.hpp"

namespace tenon::http {

namespace {

constexpr std::array<std::uint8_t, 12> v4_prefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
constexpr int v4_prefix_bits = 96;

// With every bit behind the first `bits` cleared.
IpAddress cut(IpAddress address, int bits) {
    for (int i = 0; i < 16; ++i) {
        const int kept = std::clamp(bits - i * 8, 0, 8);
        auto& byte = address.bytes[static_cast<std::size_t>(i)];
        byte = static_cast<std::uint8_t>(byte & (0xff00 >> kept));
    }
    return address;
}

std::optional<int> parse_bits(std::string_view text) {
    if (text.empty() || text.front() == '-') return std::nullopt;
    int bits = 0;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, bits);
    if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
    return bits;
}

std::unexpected<base::Error> refuse(std::string detail) {
    return base::fail(errors::invalid_network, std::move(detail));
}

}  // namespace

bool IpAddress::is_v4() const {
    return std::equal(v4_prefix.begin(), v4_prefix.end(), bytes.begin());
}

std::optional<IpAddress> parse_address(std::string_view text) {
    std::array<char, INET6_ADDRSTRLEN> terminated{};
    if (text.size() >= terminated.size() || text.contains('\0')) return std::nullopt;
    std::ranges::copy(text, terminated.begin());
    IpAddress address;
    std::ranges::copy(v4_prefix, address.bytes.begin());
    if (::inet_pton(AF_INET, terminated.data(), &address.bytes[12]) == 1) return address;
    if (::inet_pton(AF_INET6, terminated.data(), address.bytes.data()) == 1) return address;
    return std::nullopt;
}

AddressText::AddressText(const IpAddress& address) {
    const bool v4 = address.is_v4();
    ::inet_ntop(v4 ? AF_INET : AF_INET6, address.bytes.data() + (v4 ? 12 : 0), characters_.data(),
                static_cast<socklen_t>(characters_.size()));
}

base::Result<Networks> Networks::parse(const std::vector<std::string>& texts) {
    Networks networks;
    for (const std::string& text : texts) {
        auto one = parse_one(text);
        if (!one) return base::fail(std::move(one.error()));
        networks.all_.push_back(*one);
    }
    return networks;
}

base::Result<Networks::Network> Networks::parse_one(const std::string& text) {
    const auto slash = text.find('/');
    const auto address = parse_address(std::string_view(text).substr(0, slash));
    if (!address) {
        return refuse(
            fmt::format("{} is no network: write one like 10.0.0.0/8 or 2001:db8::/32, "
                        "or a lone address",
                        text));
    }
    Network network{.first = *address, .bits = 128};
    if (slash == std::string::npos) return network;
    const int own_bits = address->is_v4() ? 32 : 128;
    const auto bits = parse_bits(std::string_view(text).substr(slash + 1));
    if (!bits || *bits > own_bits) {
        return refuse(
            fmt::format("{} is no network: behind the slash stands a number of bits, "
                        "from 0 to {}",
                        text, own_bits));
    }
    network.bits = *bits + (address->is_v4() ? v4_prefix_bits : 0);
    network.first = cut(*address, network.bits);
    if (network.first != *address) {
        return refuse(fmt::format("{} has bits behind its prefix: write {}/{}", text,
                                  AddressText(network.first).view(), *bits));
    }
    return network;
}

bool Networks::contains(const IpAddress& address) const {
    return std::ranges::any_of(all_, [&address](const Network& network) {
        // ::/0 is every address of IPv6, and none of IPv4.
        return network.first.is_v4() == address.is_v4() &&
               cut(address, network.bits) == network.first;
    });
}

}  // namespace tenon::http
