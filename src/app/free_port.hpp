// The port that `tenon dev` takes when none was asked for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tenon::app {

/// The first port from `first` on that is free on all numeric addresses; 0 when a hundred are busy,
/// which lets the kernel choose.
[[nodiscard]] std::uint16_t find_free_port(const std::vector<std::string>& addresses,
                                           std::uint16_t first);

/// Throws CommandError, naming who holds it, when `port` is not free on all addresses; 0 always is.
void check_port(const std::vector<std::string>& addresses, std::uint16_t port);

}  // namespace tenon::app
