// Addresses of IP, and the networks that hold them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace tenon::http {

/// An IPv4 or IPv6 address.
///
/// Shape: 16 bytes in network order; IPv4 as IPv6 maps it (::ffff:a.b.c.d), so that both spellings
///        of one address are equal.
struct IpAddress {
    std::array<std::uint8_t, 16> bytes{};

    [[nodiscard]] bool is_v4() const;
    friend bool operator==(const IpAddress&, const IpAddress&) = default;
};

/// Reads "192.0.2.1" or "2001:db8::1"; nullopt for anything else, so for a port, a zone, brackets.
[[nodiscard]] std::optional<IpAddress> parse_address(std::string_view text);

/// The address as it is usually written, the same for all spellings.
///
/// Owns: its characters.
class AddressText {
public:
    explicit AddressText(const IpAddress& address);
    [[nodiscard]] std::string_view view() const { return characters_.data(); }

private:
    std::array<char, 46> characters_{};
};

/// A set of networks.
///
/// Cost: O(networks) per question, no allocation.
class Networks {
public:
    /// Reads "10.0.0.0/8", "2001:db8::/32" or a lone address, each.
    ///
    /// Errors: http.invalid_network, whose detail names the text and what to write instead.
    [[nodiscard]] static base::Result<Networks> parse(const std::vector<std::string>& texts);

    [[nodiscard]] bool empty() const { return all_.empty(); }
    [[nodiscard]] bool contains(const IpAddress& address) const;

private:
    struct Network {
        IpAddress first;
        int bits = 128;  ///< that all its members share, of 128
    };
    [[nodiscard]] static base::Result<Network> parse_one(const std::string& text);

    std::vector<Network> all_;
};

}  // namespace tenon::http
